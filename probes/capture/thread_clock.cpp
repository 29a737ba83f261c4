#include "probes/capture/thread_clock.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace loopscope::capture {

std::uint64_t KernelNs() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

#if defined(__x86_64__)
namespace {

constexpr double kMinBaselineNs = 5e6;      // a pair of readings is off by some 50 ns
constexpr double kMaxIntervalNs = 20e6;     // between corrections
constexpr double kIntervalOfBaseline = 16;  // an interval's share of the baseline: its error is then a few ns

// The kernel uses this counter only where it is constant and the same on all processors.
bool CounterIsTheKernelsClock() noexcept {
  const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char name[8] = "";
  const bool is = read(fd, name, 4) == 4 && std::strcmp(name, "tsc\n") == 0;
  close(fd);
  return is;
}

// The counter and the kernel's clock at one instant. A thread preempted between the two gets readings a time slice
// apart: these are repeated.
struct Reading {
  std::uint64_t ticks, ns;
};

Reading ReadBoth() noexcept {
  constexpr int kTries = 8;
  constexpr std::uint64_t kCloseTicks = 10'000;  // 2 to 5 us; both readings take a twentieth of it
  Reading best{};
  std::uint64_t best_span = UINT64_MAX;
  for (int n = 0; n < kTries && best_span > kCloseTicks; ++n) {
    const std::uint64_t before = __rdtsc();
    const std::uint64_t ns = KernelNs();
    const std::uint64_t span = __rdtsc() - before;
    if (span < best_span) best = {before + span / 2, ns}, best_span = span;
  }
  return best;
}

}  // namespace

std::uint64_t ThreadClock::Correct() noexcept {
  static const bool trusted = CounterIsTheKernelsClock();
  if (!trusted) return KernelNs();
  const auto [ticks, kernel_ns] = ReadBoth();
  if (first_ticks_ == 0) {
    first_ticks_ = ticks;
    first_ns_ = kernel_ns;
  }
  const double baseline_ns = static_cast<double>(kernel_ns - first_ns_);
  if (baseline_ns < kMinBaselineNs || ticks <= first_ticks_) return kernel_ns;
  // The last time returned must not lie ahead of the next one.
  const std::uint64_t returned =
      anchor_ns_ + ((std::min(ticks, correct_at_) - anchor_ticks_) * ns_per_tick_ >> kRateBits);
  const double rate = baseline_ns / static_cast<double>(ticks - first_ticks_);
  ns_per_tick_ = static_cast<std::uint64_t>(rate * static_cast<double>(1ull << kRateBits));
  anchor_ticks_ = ticks;
  anchor_ns_ = std::max(kernel_ns, returned);
  correct_at_ = ticks + static_cast<std::uint64_t>(std::min(kMaxIntervalNs, baseline_ns / kIntervalOfBaseline) / rate);
  return anchor_ns_;
}
#endif

}  // namespace loopscope::capture
