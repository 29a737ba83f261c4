// When this process began.
#pragma once

#include <cstdint>

namespace loopscope {

// CLOCK_MONOTONIC, to a hundredth of a second; 0 where /proc does not tell.
std::uint64_t ProcessStartNs() noexcept;

}  // namespace loopscope
