// When this process began.
#pragma once

#include <cstdint>

namespace loopscope {

// CLOCK_MONOTONIC, to a hundredth of a second; 0 if /proc is unreadable.
std::uint64_t ProcessStartNs() noexcept;

}  // namespace loopscope
