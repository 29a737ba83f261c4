// The process's resident memory, now and at its peak, and its limit.
#pragma once

#include <cstdint>

namespace loopscope {

std::uint64_t ResidentBytes() noexcept;  // 0 where it cannot be read
std::uint64_t PeakBytes() noexcept;      // since the start, or since ResetPeak() returned true; 0 where unknown
bool ResetPeak() noexcept;

// The process's limit: the machine's memory, or less if one of its control groups (v1 or v2) allows less; 0 if
// unreadable.
std::uint64_t MemoryLimitBytes() noexcept;

}  // namespace loopscope
