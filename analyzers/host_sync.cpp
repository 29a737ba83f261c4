#include <fmt/format.h>

#include "analyzers/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/op_names.h"

namespace loopscope {
namespace {

// A site that reads less often than every other step is a log line, not a habit.
constexpr double kMinReadsPerStep = 0.5;

struct Reads {
  CallSites sites;
  std::uint64_t of_device = 0;  // reads of a tensor that lives on a device, where the inputs say so
};

// The autograd engine, the optimizer and the loader read values for reasons of their own (anomaly mode's checks, Adam's
// step counters, the workers' base seed): those are no lines of the user's.
bool BelongsToLibrary(const Timeline& timeline, EventRef ref, const NameSet& nodes) {
  return HasAncestor(timeline, ref, [&](const Event& up) {
    return nodes.Has(up) || up.is_range(RangeCategory::kBackward) || up.is_range(RangeCategory::kOptimizer) ||
           up.is_range(RangeCategory::kZeroGrad) || up.is_range(RangeCategory::kLoader) ||
           up.is_range(RangeCategory::kEvaluation);
  });
}

Reads Collect(const Timeline& timeline) {
  const NameSet reads(timeline.trace(), ops::IsHostRead), nodes(timeline.trace(), ops::IsBackwardNode);
  Reads found;
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (ref.thread != timeline.training_thread() || !reads.Has(event)) return;
    // aten::item calls aten::_local_scalar_dense: one read.
    if (HasAncestor(timeline, ref, [&](const Event& up) { return reads.Has(up); })) return;
    if (BelongsToLibrary(timeline, ref, nodes)) return;
    const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(ref));
    found.of_device += !inputs.empty() && !inputs[0].device.empty();
    found.sites.Add(timeline.where(ref));
  });
  return found;
}

std::vector<Finding> Run(const Timeline& timeline) {
  Reads reads = Collect(timeline);
  if (reads.of_device > 0) {
    return {Finding::CannotTell(
        fmt::format("{} from a device {} seen, but this trace holds no device times to tell their cost from",
                    Counted(reads.of_device, "read"), reads.of_device == 1 ? "was" : "were"))};
  }
  reads.sites.DropRarerThan(kMinReadsPerStep * static_cast<double>(timeline.steady().size()));
  if (reads.sites.empty()) return {};
  const auto per_step = [&](std::uint64_t count) { return PerStep(timeline, static_cast<double>(count)); };
  Finding finding;
  finding.severity = Severity::kInfo;
  finding.title = fmt::format(
      "values are read back to the host {:.3g} times per step: free on a CPU, but a GPU would be waited for each time",
      per_step(reads.sites.count()));
  finding.evidence = reads.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("reads a value back {:.3g} times per step", per_step(site.count));
  });
  return {finding};
}

}  // namespace

extern const Analyzer kHostSync;
const Analyzer kHostSync{.id = "host-sync", .question = "Does the loop make the device wait for the host?", .run = Run};

}  // namespace loopscope
