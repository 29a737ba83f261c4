#include "probes/capture/kept_times.h"

#include <algorithm>

namespace loopscope::capture {

void KeptTimes::Start() noexcept {
  count_.store(0);
  open_ = false;
  Set(true, 0);
}

void KeptTimes::Set(bool keep, std::uint64_t time_ns) noexcept {
  if (keep == open_) return;
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  if (!keep) {
    times_[count - 1].end_ns.store(time_ns, std::memory_order_relaxed);
  } else if (count == kMost) {
    return;
  } else {
    times_[count].begin_ns.store(time_ns, std::memory_order_relaxed);
    times_[count].end_ns.store(UINT64_MAX, std::memory_order_relaxed);
    count_.store(count + 1, std::memory_order_release);
  }
  open_ = keep;
}

bool KeptTimes::Has(std::uint64_t time_ns) const noexcept {
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  return std::any_of(times_.begin(), times_.begin() + count, [&](const Time& time) {
    return time_ns >= time.begin_ns.load(std::memory_order_relaxed) &&
           time_ns < time.end_ns.load(std::memory_order_relaxed);
  });
}

}  // namespace loopscope::capture
