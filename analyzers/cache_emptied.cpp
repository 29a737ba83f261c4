#include <fmt/format.h>

#include <array>

#include "analyzers/shared/device_memory.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinTimesPerStep = 0.5;
constexpr double kMinSharePct = 1;  // of the step's work

std::vector<Finding> Run(const Timeline& timeline) {
  if (!timeline.device_coverage().used) return {Finding::NotApplicable(timeline.device_coverage().why_not)};
  const MemoryReturnSum found = SumOf(MemoryReturns(timeline), /*retry=*/false);
  const auto per_step = [&](std::uint64_t count) { return CountPerStep(timeline, static_cast<double>(count)); };
  const double ms = MsPerStep(timeline, found.ms);
  if (per_step(found.times) < kMinTimesPerStep || found.allocations == 0 || SharePct(timeline, ms) < kMinSharePct) {
    return {};
  }
  Finding finding = Costing(timeline, ms,
                            fmt::format("the loop gives the GPU's memory back and asks for it anew: {} per step ({})",
                                        MsText(ms), ShareText(timeline, ms)));
  finding.evidence.push_back({fmt::format("{:.3g} blocks freed and {:.3g} allocated per step", per_step(found.frees),
                                          per_step(found.allocations)),
                              found.frees, found.where});
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kIdleDevices}};

}  // namespace

extern const Analyzer kCacheEmptied{.id = "cache-emptied",
                                    .question = "Does the loop give the GPU's memory back and ask for it anew?",
                                    .run = Run,
                                    .claims = kClaims};

}  // namespace loopscope
