#include "probes/preload/process/children.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "probes/capture/records.h"

namespace loopscope {

std::size_t ListChildren(ChildList& into) noexcept {
  std::size_t count = 0;
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  while (const dirent* task = readdir(tasks)) {
    char path[300];
    std::snprintf(path, sizeof path, "/proc/self/task/%s/children", task->d_name);
    std::FILE* list = task->d_name[0] == '.' ? nullptr : std::fopen(path, "re");
    if (list == nullptr) continue;
    for (int child = 0; count < into.size() && std::fscanf(list, "%d", &child) == 1;) into[count++] = child;
    std::fclose(list);
  }
  closedir(tasks);
  return count;
}

namespace {

constexpr std::uint64_t kLongestNs = 10'000'000'000, kQuietNs = 300'000'000;
constexpr useconds_t kLookEveryUs = 50'000;
constexpr int kFirstOwn = 3;  // below are the standard streams

bool IsCapture(int fd) noexcept {
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path);
  return length > 0 && std::string_view(path, static_cast<std::size_t>(length)).ends_with(".cap");
}

bool IsWritten(int fd) noexcept {
  struct stat file {};
  if (fd < kFirstOwn || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return false;
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !IsCapture(fd);
}

bool HoldsFileToWrite() noexcept {
  DIR* const files = opendir("/proc/self/fd");
  if (files == nullptr) return false;
  bool found = false;
  while (const dirent* file = readdir(files)) found = found || IsWritten(std::atoi(file->d_name));
  closedir(files);
  return found;
}

// Bytes passed to write(2) and its kin so far (proc(5), `io`).
std::uint64_t WrittenBy(const char* process) noexcept {
  char path[64], line[128];
  std::snprintf(path, sizeof path, "/proc/%s/io", process);
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  std::uint64_t bytes = 0;
  while (std::fgets(line, sizeof line, file) != nullptr && std::sscanf(line, "wchar: %" SCNu64, &bytes) != 1) {
  }
  std::fclose(file);
  return bytes;
}

std::uint64_t Written() noexcept {
  std::uint64_t bytes = WrittenBy("self");
  ChildList children;
  const std::size_t count = ListChildren(children);
  for (std::size_t n = 0; n < count; ++n) {
    char pid[16];
    std::snprintf(pid, sizeof pid, "%d", children[n]);
    bytes += WrittenBy(pid);
  }
  return bytes;
}

}  // namespace

void WaitForWriters() noexcept {
  if (dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr) return;
  ChildList children;
  if (!HoldsFileToWrite() && ListChildren(children) == 0) return;
  const std::uint64_t began = capture::NowNs();
  std::uint64_t written = Written(), quiet_since = began;
  for (std::uint64_t now = began; now < began + kLongestNs && now < quiet_since + kQuietNs; now = capture::NowNs()) {
    usleep(kLookEveryUs);
    const std::uint64_t bytes = Written();
    if (bytes != written) quiet_since = capture::NowNs();
    written = bytes;
  }
}

}  // namespace loopscope
