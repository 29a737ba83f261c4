// CUPTI's clock and the capture's (CLOCK_MONOTONIC, ns).
#pragma once

#include <time.h>

#include <cstdint>

#include "probes/cupti/cupti_library.h"

namespace loopscope {

inline std::uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// Sets `shift_ns` to what must be added (modulo 2^64) to CUPTI's times: from the tightest of several readings between
// two of our own. False if CUPTI gives no time.
inline bool MeasureShift(const Cupti& cupti, std::uint64_t& shift_ns) noexcept {
  constexpr int kReadings = 5;
  std::uint64_t closest_ns = ~std::uint64_t{0};
  for (int i = 0; i < kReadings && cupti.timestamp != nullptr; ++i) {
    std::uint64_t theirs = 0;
    const std::uint64_t before = MonotonicNs();
    if (cupti.timestamp(&theirs) != CUPTI_SUCCESS || theirs == 0) return false;
    const std::uint64_t around_ns = MonotonicNs() - before;
    if (around_ns >= closest_ns) continue;
    closest_ns = around_ns;
    shift_ns = before + around_ns / 2 - theirs;
  }
  return closest_ns != ~std::uint64_t{0};
}

}  // namespace loopscope
