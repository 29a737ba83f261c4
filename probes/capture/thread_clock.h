// CLOCK_MONOTONIC for one thread, from an x86 processor's time stamp counter if the kernel's clock uses it too: less
// than half the cost of a system clock read. Never runs backwards, so that what nests on a thread nests in the
// capture; corrected against the kernel's clock as it goes.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace loopscope::capture {

// The kernel's clock itself.
std::uint64_t KernelNs() noexcept;

#if defined(__x86_64__)
class ThreadClock {
 public:
  std::uint64_t NowNs() noexcept {
    const std::uint64_t ticks = __rdtsc();
    if (ticks < correct_at_) return anchor_ns_ + ((ticks - anchor_ticks_) * ns_per_tick_ >> kRateBits);
    return Correct();
  }

 private:
  static constexpr int kRateBits = 32;

  // Recalibrates the counter against the kernel's clock. The rate comes from all the time since the first call; until
  // it is known to some 10 ppm, and where the counter cannot be trusted, every call comes here.
  [[gnu::cold]] std::uint64_t Correct() noexcept;

  std::uint64_t first_ticks_ = 0, first_ns_ = 0;
  // What every reading looks at comes last, in half a cache line: correct_at_ is in ticks.
  std::uint64_t correct_at_ = 0, anchor_ticks_ = 0, anchor_ns_ = 0;
  std::uint64_t ns_per_tick_ = 0;  // fixed point with kRateBits: an interval's product fits in 64 bits
};
#else
class ThreadClock {
 public:
  std::uint64_t NowNs() noexcept { return KernelNs(); }
};
#endif

}  // namespace loopscope::capture
