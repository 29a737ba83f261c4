#include <fmt/format.h>

#include <array>

#include "analyzers/shared/device_memory.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 1;  // of the step's work
constexpr std::uint64_t kMinTimes = 2;

std::vector<Finding> Run(const Timeline& timeline) {
  if (!timeline.device_coverage().used) return {Finding::NotApplicable(timeline.device_coverage().why_not)};
  const MemoryReturnSum found = SumOf(MemoryReturns(timeline), /*retry=*/true);
  const double ms = MsPerStep(timeline, found.ms);
  if (found.times < kMinTimes || SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding = Costing(timeline, ms,
                            fmt::format("the allocator runs out of the GPU's memory and starts over: {} per step ({})",
                                        MsText(ms), ShareText(timeline, ms)));
  finding.evidence.push_back({fmt::format("{} retries in {}: {} blocks given back, {} allocated anew", found.times,
                                          Counted(timeline.steady().size(), "step"), found.frees, found.allocations),
                              found.times, found.where});
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kIdleDevices}};

}  // namespace

extern const Analyzer kAllocatorRetries{.id = "allocator-retries",
                                        .question = "Does the allocator run out of the GPU's memory?",
                                        .run = Run,
                                        .claims = kClaims};

}  // namespace loopscope
