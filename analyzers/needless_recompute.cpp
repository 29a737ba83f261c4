#include <fmt/format.h>

#include "analyzers/shared/activations.h"
#include "analyzers/shared/memory_use.h"
#include "profiler/core/analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;  // of the step's work

std::vector<Finding> Run(const Timeline& timeline) {
  const Recompute recompute = FindRecompute(timeline);
  if (recompute.ops == 0 || SharePct(timeline, recompute.ms) < kMinSharePct) return {};
  if (recompute.graph_of_backward) {
    return {Finding::CannotTell("the backward pass records a graph of its own, beside which recomputing is not seen")};
  }
  const MemoryUse memory = MemoryUseOf(timeline);
  if (!memory.known()) {
    return {Finding::CannotTell(fmt::format("the backward pass runs forward operators again for {} per step, but {}",
                                            MsText(recompute.ms), memory.why_unknown))};
  }
  if (!memory.free()) return {};
  Finding finding = Costing(timeline, recompute.ms,
                            fmt::format("activations are computed again for {} per step, and memory is free: {}",
                                        MsText(recompute.ms), UseText(memory)));
  finding.evidence.push_back({fmt::format("{:.3g} operators per step run again inside the backward pass",
                                          CountPerStep(timeline, static_cast<double>(recompute.ops))),
                              recompute.ops,
                              {}});
  const auto sites = recompute.forward.Describe(
      [](const CallSites::Site&) { return std::string("runs in the forward pass and again in the backward pass"); }, 4);
  finding.evidence.insert(finding.evidence.begin(), sites.begin(), sites.end());
  return {finding};
}

}  // namespace

extern const Analyzer kNeedlessRecompute{.id = "needless-recompute",
                                         .question = "Are activations recomputed although memory is free?",
                                         .run = Run,
                                         .needs = kNeedsOps | kNeedsPasses | kNeedsCosts};

}  // namespace loopscope
