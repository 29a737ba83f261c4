#include "probes/preload/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "probes/preload/proc_file.h"

namespace loopscope {

std::uint64_t ResidentBytes() noexcept {
  char text[128];
  const char* second = std::strchr(ReadStart("/proc/self/statm", text), ' ');
  if (second == nullptr) return 0;
  static const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  char* third = nullptr;
  const std::uint64_t resident = std::strtoull(second, &third, 10);
  const std::uint64_t shared = std::strtoull(third, nullptr, 10);
  return (resident - (shared < resident ? shared : resident)) * page_bytes;
}

std::uint64_t PeakBytes() noexcept {
  char text[4096];
  const char* line = std::strstr(ReadStart("/proc/self/status", text), "VmHWM:");
  return line != nullptr ? std::strtoull(line + 6, nullptr, 10) * 1024 : 0;
}

bool ResetPeak() noexcept {
  const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool reset = write(fd, "5", 1) == 1;
  close(fd);
  return reset;
}

}  // namespace loopscope
