#include "probes/preload/process/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probes/preload/process/proc_file.h"

namespace loopscope {
namespace {

std::uint64_t Smaller(std::uint64_t limit, std::uint64_t other) noexcept {
  return other != 0 && other < limit ? other : limit;
}

// The tightest limit from `group` up to the root of the hierarchy mounted at `mount`; "max" reads as none.
std::uint64_t TightestLimit(const char* mount, const char* group, const char* file, std::uint64_t limit) noexcept {
  char folder[1024];
  if (std::snprintf(folder, sizeof folder, "%s%s", mount, group) >= static_cast<int>(sizeof folder)) return limit;
  const std::size_t root = std::strlen(mount);
  while (true) {
    char path[1152], text[64];
    std::snprintf(path, sizeof path, "%s/%s", folder, file);
    limit = Smaller(limit, std::strtoull(ReadStart(path, text), nullptr, 10));
    char* slash = std::strrchr(folder, '/');
    if (slash == nullptr || slash < folder + root) return limit;
    *slash = '\0';
  }
}

// `line` is one of /proc/self/cgroup: "0::/group" (v2), "4:memory:/group" (v1).
std::uint64_t LimitOfGroup(char* line, std::uint64_t limit) noexcept {
  char* controllers = std::strchr(line, ':');
  char* group = controllers != nullptr ? std::strchr(controllers + 1, ':') : nullptr;
  if (group == nullptr) return limit;
  *group++ = '\0';
  if (controllers[1] == '\0') return TightestLimit("/sys/fs/cgroup", group, "memory.max", limit);
  if (std::strcmp(controllers + 1, "memory") != 0) return limit;
  return TightestLimit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", limit);
}

}  // namespace

std::uint64_t MemoryLimitBytes() noexcept {
  char text[4096];
  const char* total = std::strstr(ReadStart("/proc/meminfo", text), "MemTotal:");
  std::uint64_t limit = total != nullptr ? std::strtoull(total + 9, nullptr, 10) * 1024 : 0;
  if (limit == 0) return 0;
  ReadStart("/proc/self/cgroup", text);
  char* rest = nullptr;
  for (char* line = strtok_r(text, "\n", &rest); line != nullptr; line = strtok_r(nullptr, "\n", &rest)) {
    limit = LimitOfGroup(line, limit);
  }
  return limit;
}

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
