#include <fmt/format.h>

#include <algorithm>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "analyzers/shared/processors.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 10;    // of the step, saved by more threads at most
constexpr double kMinIdleShare = 0.5;  // of the cores without a thread of an operator, that no program uses
// at::parallel_for splits from 32,768 elements on: about 10 us of the simplest operator. Operators that take ten times
// as long gain from another thread.
constexpr double kLongOpMs = 0.1;

struct LongOps {
  double ms = 0;  // per step
  double count = 0;
};

// Operators on the CPU by self time.
LongOps MeasureOps(const Timeline& timeline) {
  LongOps found;
  timeline.ForEachSteady([&](EventRef ref) {
    if (timeline.event(ref).kind != EventKind::kOp) return;
    const double own_ms = Ms(timeline.self_ns(ref));
    if (own_ms < kLongOpMs) return;
    found.ms += own_ms;
    found.count += 1;
  });
  return {MsPerStep(timeline, found.ms), CountPerStep(timeline, found.count)};
}

std::vector<Finding> Run(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  const auto threads = NumberFact(trace, "threads");
  const auto processors = ProcessorsOf(timeline);
  if (OnDevice(timeline)) return {Finding::NotApplicable("the operators run on a GPU")};
  if (!threads || trace.run.cores <= 0 || !processors || *threads <= 0) {
    return {Finding::CannotTell("the trace does not record how many threads compute and which processors are idle")};
  }
  // Threads on two siblings share one core's units: PyTorch's own default is a thread for each core.
  const std::int64_t cores = std::min<std::int64_t>(trace.run.cores, processors->physical.value_or(trace.run.cores));
  const std::int64_t computing = *threads * processors->ranks_here;
  // The rest is left to the loader's workers.
  const std::int64_t loading = NumberFact(trace, "loader.workers").value_or(0) * processors->ranks_here;
  if (computing + loading >= cores) return {};
  const double idle = static_cast<double>(cores) - processors->busy;
  if (idle < kMinIdleShare * static_cast<double>(cores - computing)) return {};
  const LongOps ops = MeasureOps(timeline);
  const double ms = ops.ms * (1 - static_cast<double>(computing) / static_cast<double>(cores));
  if (SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding = CostingAtMost(
      timeline, ms,
      fmt::format("operators compute with {} on {}: {:.1f} of them idle", ThreadsText(*threads, processors->ranks_here),
                  Counted(static_cast<std::uint64_t>(cores), "core"), idle));
  finding.evidence.push_back({fmt::format("{:.3g} operators per step take {:.1f} ms or more by themselves: {} in all",
                                          ops.count, kLongOpMs, MsText(ops.ms)),
                              static_cast<std::uint64_t>(ops.count),
                              {}});
  if (const auto set = trace.run.environment.find("OMP_NUM_THREADS"); set != trace.run.environment.end()) {
    finding.evidence.push_back({fmt::format("OMP_NUM_THREADS={} in the environment", set->second), 1, {}});
  }
  return {std::move(finding)};
}

}  // namespace

extern const Analyzer kIdleProcessors{.id = "idle-processors",
                                      .question = "Do fewer threads compute than there are cores?",
                                      .run = Run,
                                      .usual_share = 0.7,
                                      .whatever_runs = true};

}  // namespace loopscope
