#include <fmt/format.h>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 1;  // of the step's work

struct Zeroing {
  bool zero_grad_seen = false;
  CallSites fills;
  double accumulate_ms = 0;  // adding into the zeroed gradients in the backward pass
};

Zeroing Collect(const Timeline& timeline) {
  const NameSet fills(timeline.trace(), ops::IsZeroFill), adds(timeline.trace(), ops::IsAccumulate),
      nodes(timeline.trace(), ops::IsAccumulateNode);
  const OpCost cost(timeline);
  Zeroing zeroing;
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    zeroing.zero_grad_seen |= event.is_range(RangeCategory::kZeroGrad);
    if (adds.Has(event) && HasAncestor(timeline, ref, [&](const Event& up) { return nodes.Has(up); })) {
      zeroing.accumulate_ms += cost.Ms(ref);
    }
    if (!fills.Has(event) || !timeline.inside(ref, RangeCategory::kZeroGrad)) return;
    if (HasAncestor(timeline, ref, [&](const Event& up) { return fills.Has(up); })) return;
    zeroing.fills.Add(timeline.where(ref), cost.Ms(ref));
  });
  zeroing.fills.FoldUnknown();
  return zeroing;
}

std::vector<Finding> Run(const Timeline& timeline) {
  const Zeroing zeroing = Collect(timeline);
  if (!zeroing.zero_grad_seen) return {Finding::NotApplicable("zero_grad() was not called in the timed steps")};
  const double ms = MsPerStep(timeline, zeroing.fills.ms(), Part::kOptimizer);
  Finding finding =
      Costing(timeline, ms, fmt::format("zero_grad() fills gradients with zeros for {} per step", MsText(ms)));
  if (zeroing.fills.empty() || SharePct(timeline, ms) < kMinSharePct) return {};
  finding.evidence = zeroing.fills.Describe([&](const CallSites::Site& site) {
    return fmt::format("{:.3g} zero fills per step, {}", CountPerStep(timeline, static_cast<double>(site.count)),
                       MsText(MsPerStep(timeline, site.ms, Part::kOptimizer)));
  });
  if (zeroing.accumulate_ms > 0) {
    finding.evidence.push_back({fmt::format("the backward pass then adds into them for {} per step (not counted)",
                                            MsText(MsPerStep(timeline, zeroing.accumulate_ms, Part::kBackward))),
                                1,
                                {}});
  }
  return {finding};
}

}  // namespace

extern const Analyzer kGradsZeroed{.id = "grads-zeroed",
                                   .question = "Are gradients filled with zeros instead of released?",
                                   .run = Run,
                                   .needs = kNeedsOps | kNeedsCosts};

}  // namespace loopscope
