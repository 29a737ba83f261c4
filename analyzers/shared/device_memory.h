// When and why the training loop returns memory of a device and allocates it again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// Blocks freed one after the other (cudaFree waits for the whole device), and what was then allocated up to the next
// time.
struct MemoryReturn {
  // An allocation came right before, or an operator was running: the allocator had found no room, freed what it kept,
  // and tried again. Else the program emptied the cache.
  bool retry = false;
  std::uint64_t frees = 0, allocations = 0;
  double ms = 0;  // of the thread's time, in these calls
  std::optional<Where> where;
};

// The returns in the steady steps.
std::vector<MemoryReturn> MemoryReturns(const Timeline& timeline);

// The sum over all of MemoryReturns() of one kind.
struct MemoryReturnSum {
  std::uint64_t times = 0, frees = 0, allocations = 0;
  double ms = 0;
  std::optional<Where> where;  // of the costliest that has a place
};
MemoryReturnSum SumOf(const std::vector<MemoryReturn>& returns, bool retry);

}  // namespace loopscope
