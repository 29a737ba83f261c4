#include "probes/torch/op_clock.h"

#include <cstdio>
#include <cstring>

namespace loopscope {
namespace {

constexpr double kMinBaselineNs = 5e6;      // a pair of readings is off by some 50 ns
constexpr double kMaxIntervalNs = 20e6;     // between corrections
constexpr double kIntervalOfBaseline = 16;  // an interval is this part of the baseline: then off by a few ns

}  // namespace

bool OpClock::CounterIsTheKernelsClock() {
#if defined(__x86_64__)
  static const bool is = [] {
    char name[32] = "";
    std::FILE* file = std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (file == nullptr) return false;
    const bool read = std::fgets(name, sizeof name, file) != nullptr;
    std::fclose(file);
    return read && std::strcmp(name, "tsc\n") == 0;
  }();
  return is;
#else
  return false;
#endif
}

std::uint64_t OpClock::Correct() {
#if defined(__x86_64__)
  const std::uint64_t ticks = __rdtsc();
  const std::uint64_t kernel_ns = kernel_ns_();
  if (first_ticks_ == 0) {
    first_ticks_ = ticks;
    first_ns_ = kernel_ns;
  }
  const double baseline_ns = static_cast<double>(kernel_ns - first_ns_);
  if (baseline_ns < kMinBaselineNs || ticks <= first_ticks_) return kernel_ns;
  // What was told last must not lie ahead of what is told next.
  const std::uint64_t told = anchor_ns_ + ((std::min(ticks, correct_at_) - anchor_ticks_) * ns_per_tick_ >> kRateBits);
  const double rate = baseline_ns / static_cast<double>(ticks - first_ticks_);
  ns_per_tick_ = static_cast<std::uint64_t>(rate * static_cast<double>(1ull << kRateBits));
  anchor_ticks_ = ticks;
  anchor_ns_ = std::max(kernel_ns, told);
  correct_at_ = ticks + static_cast<std::uint64_t>(std::min(kMaxIntervalNs, baseline_ns / kIntervalOfBaseline) / rate);
  return anchor_ns_;
#else
  return kernel_ns_();
#endif
}

}  // namespace loopscope
