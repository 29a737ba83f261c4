#include <fmt/format.h>

#include "analyzers/shared/activations.h"
#include "analyzers/shared/memory_use.h"
#include "profiler/core/analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinOfPeakPct = 5;  // the saving that a memory treatment must show

std::vector<Finding> Run(const Timeline& timeline) {
  const MemoryUse memory = MemoryUseOf(timeline);
  if (!memory.known()) return {Finding::CannotTell("whether memory is short is not known: " + memory.why_unknown)};
  if (!memory.tight()) return {};
  const Activations kept = EstimateActivations(timeline);
  if (!kept.known) {
    return {Finding::CannotTell(WhyNoDetail(timeline) + ", so the sizes of activations are not known")};
  }
  const double of_peak_pct = 100 * kept.relu_bytes / static_cast<double>(memory.peak_bytes);
  if (of_peak_pct < kMinOfPeakPct) return {};
  Finding finding;
  finding.severity = Severity::kLow;
  finding.title = fmt::format("memory is short ({}), and ReLUs write their results beside their inputs: up to {}",
                              UseText(memory), BytesText(kept.relu_bytes));
  finding.evidence = kept.relus.Describe([](const CallSites::Site& site) {
    return fmt::format("{} in a ReLU's input", BytesText(site.ms / static_cast<double>(site.count)));
  });
  return {finding};
}

}  // namespace

extern const Analyzer kActivationMemory{.id = "activation-memory",
                                        .question = "Is memory short for activations that could be overwritten?",
                                        .run = Run,
                                        .needs = kNeedsOps | kNeedsPasses};

}  // namespace loopscope
