#include <fmt/format.h>

#include "analyzers/shared/activations.h"
#include "analyzers/shared/memory_use.h"
#include "profiler/core/analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinOfPeakPct = 25;  // below this, recomputing would not change much

std::vector<Finding> Run(const Timeline& timeline) {
  const MemoryUse memory = MemoryUseOf(timeline);
  if (!memory.known()) return {Finding::CannotTell("whether memory is short is not known: " + memory.why_unknown)};
  if (!memory.tight()) return {};
  const Activations kept = EstimateActivations(timeline);
  if (!kept.known) {
    return {
        Finding::CannotTell(fmt::format("{}: memory is short ({}), but how much of it activations take is not known",
                                        WhyNoDetail(timeline), UseText(memory)))};
  }
  const double of_peak_pct = 100 * kept.bytes / static_cast<double>(memory.peak_bytes);
  if (of_peak_pct < kMinOfPeakPct || FindRecompute(timeline).ops > 0) return {};
  Finding finding;
  finding.severity = Severity::kMedium;
  finding.title = fmt::format("memory is short: {} at the peak, of which activations are about {}", UseText(memory),
                              BytesText(kept.bytes));
  finding.evidence.push_back(
      {fmt::format("the forward pass keeps about {:.0f} % of the peak for the backward pass, and "
                   "nothing is recomputed",
                   of_peak_pct),
       1,
       {}});
  return {finding};
}

}  // namespace

extern const Analyzer kCheckpointMemory{.id = "checkpoint-memory",
                                        .question = "Is memory short for activations that could be recomputed?",
                                        .run = Run,
                                        .needs = kNeedsOps | kNeedsPasses};

}  // namespace loopscope
