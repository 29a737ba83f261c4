// CLOCK_MONOTONIC for one thread, from the processor's time stamp counter where the kernel's clock is that counter too:
// less than half the price of a call for it. Never runs backwards; corrected against the kernel's clock as it goes.
#pragma once

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace loopscope {

class OpClock {
 public:
  // `now_ns`: the kernel's clock, used alone where the counter cannot be trusted.
  explicit OpClock(std::uint64_t (*now_ns)()) : kernel_ns_(now_ns), trusted_(CounterIsTheKernelsClock()) {}

  std::uint64_t NowNs() {
#if defined(__x86_64__)
    if (trusted_) {
      const std::uint64_t ticks = __rdtsc();
      if (ticks < correct_at_) {
        return anchor_ns_ + ((ticks - anchor_ticks_) * ns_per_tick_ >> kRateBits);
      }
      return Correct();
    }
#endif
    return kernel_ns_();
  }

 private:
  static constexpr int kRateBits = 32;

  // The kernel trusts a counter only that is constant and the same on all processors.
  static bool CounterIsTheKernelsClock();

  // Ties the counter to the kernel's clock anew. The rate comes from all the time since the first call; until it is
  // known to some 10 ppm, every call comes here.
  [[gnu::cold]] std::uint64_t Correct();

  std::uint64_t (*kernel_ns_)();
  std::uint64_t correct_at_ = 0;  // in ticks
  std::uint64_t anchor_ticks_ = 0, anchor_ns_ = 0;
  std::uint64_t ns_per_tick_ = 0;  // fixed point with kRateBits: an interval's product fits in 64 bits
  std::uint64_t first_ticks_ = 0, first_ns_ = 0;
  bool trusted_;
};

}  // namespace loopscope
