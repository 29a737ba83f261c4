// The process's resident memory, now and at its peak.
#pragma once

#include <cstdint>

namespace loopscope {

std::uint64_t ResidentBytes() noexcept;  // 0 where it cannot be read
std::uint64_t PeakBytes() noexcept;      // since the start, or since ResetPeak() returned true; 0 where unknown
bool ResetPeak() noexcept;

}  // namespace loopscope
