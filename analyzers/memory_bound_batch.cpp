#include <fmt/format.h>

#include "analyzers/shared/activations.h"
#include "analyzers/shared/memory_use.h"
#include "profiler/core/analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinOfPeakPct = 25;  // below this, it is not the batch that fills the memory

std::vector<Finding> Run(const Timeline& timeline) {
  const MemoryUse memory = MemoryUseOf(timeline);
  if (!memory.known()) return {Finding::CannotTell("whether memory is short is not known: " + memory.why_unknown)};
  if (!memory.tight()) return {};
  const Activations kept = EstimateActivations(timeline);
  if (!kept.known) {
    return {
        Finding::CannotTell(WhyNoDetail(timeline) + ", so whether it is the batch that fills the memory is not known")};
  }
  if (100 * kept.bytes < kMinOfPeakPct * static_cast<double>(memory.peak_bytes)) return {};
  Finding finding;
  finding.severity = Severity::kInfo;
  finding.title = fmt::format("the batch is as large as memory allows: {} at the peak", UseText(memory));
  finding.evidence.push_back({fmt::format("about {} of it grows with the batch", BytesText(kept.bytes)), 1, {}});
  return {finding};
}

}  // namespace

extern const Analyzer kMemoryBoundBatch{
    .id = "memory-bound-batch", .question = "Does memory limit the batch?", .run = Run};

}  // namespace loopscope
