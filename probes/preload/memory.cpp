#include "probes/preload/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace loopscope {
namespace {

// Reads the start of a small file; returns "" where that fails.
template <std::size_t N>
const char* ReadStart(const char* path, char (&into)[N]) noexcept {
  into[0] = '\0';
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return into;
  const ssize_t length = read(fd, into, N - 1);
  into[length > 0 ? length : 0] = '\0';
  close(fd);
  return into;
}

}  // namespace

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
