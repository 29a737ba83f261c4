// Detects stretches of a line's own code in which the thread waited: for a lock that a `with` takes, or for the
// interpreter's. It then released its processor, and used little of it.
#pragma once

#include <sys/resource.h>
#include <time.h>

#include <cstdint>

namespace loopscope {

class WaitClock {
 public:
  static constexpr std::uint64_t kLeastNs = 1'000'000;  // shorter stretches are ignored

  void Begin(std::uint64_t now_ns) noexcept { Read(now_ns); }

  // The thread ran code from now_ns - `spent_ns` on. Returns how much of that it waited, at least; 0 where that is less
  // than half, or where it may have been ready to run.
  std::uint64_t Spent(std::uint64_t spent_ns, std::uint64_t now_ns) noexcept {
    if (now_ns - read_ns_ < kOldNs) return 0;
    const std::uint64_t used_ns = used_ns_;
    const long let_go = let_go_;
    Read(now_ns);
    if (spent_ns < kLeastNs || let_go_ == let_go) return 0;
    const std::uint64_t ran_ns = used_ns_ - used_ns;
    return ran_ns < spent_ns / 2 ? spent_ns - ran_ns : 0;
  }

 private:
  static constexpr std::uint64_t kOldNs = 500'000;  // a reading costs half a microsecond

  void Read(std::uint64_t now_ns) noexcept {
    timespec used{};
    rusage usage{};
    read_ns_ = now_ns;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0 || getrusage(RUSAGE_THREAD, &usage) != 0) return;
    used_ns_ = static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
    let_go_ = usage.ru_nvcsw;
  }

  std::uint64_t read_ns_ = 0, used_ns_ = 0;
  long let_go_ = 0;
};

}  // namespace loopscope
