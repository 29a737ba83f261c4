#include "probes/preload/process/start.h"

#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "probes/preload/process/proc_file.h"

namespace loopscope {
namespace {

std::uint64_t ReadClock(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::uint64_t ProcessStartNs() noexcept {
  constexpr int kStartField = 22;  // proc(5): in clock ticks since boot
  char text[1024];
  const char* at = std::strrchr(ReadStart("/proc/self/stat", text), ')');  // the program's name may hold spaces
  for (int field = 2; at != nullptr && field < kStartField; ++field) at = std::strchr(at + 1, ' ');
  const long ticks_per_s = sysconf(_SC_CLK_TCK);
  if (at == nullptr || ticks_per_s <= 0) return 0;
  const std::uint64_t since_boot =
      std::strtoull(at, nullptr, 10) * (1'000'000'000 / static_cast<std::uint64_t>(ticks_per_s));
  // CLOCK_BOOTTIME also counts suspend. It is read last, so it is never behind.
  const std::uint64_t now_ns = ReadClock(CLOCK_MONOTONIC);
  const std::uint64_t age_ns = ReadClock(CLOCK_BOOTTIME) - since_boot;
  return age_ns < now_ns ? now_ns - age_ns : 0;
}

}  // namespace loopscope
