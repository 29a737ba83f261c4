#include <fmt/format.h>

#include <array>

#include "analyzers/shared/device_memory.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 1;  // of the step's work
constexpr std::uint64_t kMinTimes = 2;

// The count of all devices' allocators, from the program's start to its end; absent if none was read. At the limit of a
// memory share (set_per_process_memory_fraction) an allocator may count none: torch 2.11 on an H100.
struct Tally {
  std::int64_t retries = 0, out_of_memory = 0;
};

std::optional<Tally> TallyOf(const Trace& trace) {
  std::optional<Tally> counted;
  for (const Device& device : trace.devices) {
    const std::string number = std::to_string(device.ordinal);
    const auto retries = NumberFact(trace, "device.{}.alloc_retries", number);
    if (!retries) continue;
    if (!counted) counted.emplace();
    counted->retries += *retries;
    counted->out_of_memory += NumberFact(trace, "device.{}.out_of_memory", number).value_or(0);
  }
  return counted;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (!timeline.device_coverage().used) return {Finding::NotApplicable(timeline.device_coverage().why_not)};
  const MemoryReturnSum found = SumOf(MemoryReturns(timeline), /*retry=*/true);
  const double ms = MsPerStep(timeline, found.ms);
  if (found.times < kMinTimes || SharePct(timeline, ms) < kMinSharePct) return {};
  const std::optional<Tally> counted = TallyOf(timeline.trace());
  Finding finding = Costing(timeline, ms,
                            fmt::format("the allocator runs out of the GPU's memory and starts over: {} per step ({})",
                                        MsText(ms), ShareText(timeline, ms)));
  finding.evidence.push_back({fmt::format("{} retries in {}: {} blocks given back, {} allocated anew", found.times,
                                          Counted(timeline.steady().size(), "step"), found.frees, found.allocations),
                              found.times, found.where});
  if (counted && counted->retries > 0) {
    finding.evidence.push_back(
        {fmt::format("in the whole run the allocator itself retried {}, and ran out of memory {}",
                     Counted(static_cast<std::uint64_t>(counted->retries), "time"),
                     Counted(static_cast<std::uint64_t>(counted->out_of_memory), "time"))});
  }
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kIdleDevices}};

}  // namespace

extern const Analyzer kAllocatorRetries{.id = "allocator-retries",
                                        .question = "Does the allocator run out of the GPU's memory?",
                                        .run = Run,
                                        .claims = kClaims};

}  // namespace loopscope
