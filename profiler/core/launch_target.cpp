#include "profiler/core/launch_target.h"

#include <bit>
#include <cmath>

#include "profiler/core/steps/step_ledger.h"

namespace loopscope {

void AddTargetFacts(const Trace& trace, const Target& target, std::int64_t start_ns, const TargetByOutput& by_output,
                    LaunchResult& result) {
  const StepLedger ledger(trace);
  result.target_s = by_output.reached_s;
  result.best_metric = by_output.best;
  for (const Mark& mark : trace.marks) {
    if (by_output.told || mark.kind != MarkKind::kMetric || !ledger.IsOwn(mark.thread)) continue;
    if (trace.text(mark.name) != target.metric) continue;
    const auto value = std::bit_cast<double>(mark.value);
    if (!std::isfinite(value) || result.target_s) continue;
    const bool better =
        !result.best_metric || (target.at_least ? value > *result.best_metric : value < *result.best_metric);
    if (better) result.best_metric = value;
    const bool there = target.at_least ? value >= target.value : value <= target.value;
    if (there) result.target_s = static_cast<double>(mark.time_ns - start_ns) / 1e9;
  }
  result.steps_seen = result.samples_seen = 0;
  bool samples_known = true;
  for (const StepEnd& end : ledger.ends()) {
    const double at_s = static_cast<double>(end.time_ns - start_ns) / 1e9;
    if (result.target_s && at_s > *result.target_s) continue;
    ++result.steps_seen;
    samples_known = samples_known && end.samples > 0;
    result.samples_seen += static_cast<double>(end.samples);
  }
  if (!samples_known) result.samples_seen = 0;
}

}  // namespace loopscope
