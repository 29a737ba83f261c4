#include "probes/preload/ending.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probes/capture/records.h"
#include "probes/preload/process/children.h"
#include "probes/preload/process/devices.h"

namespace loopscope {
namespace {

constexpr std::uint64_t kChildGraceNs = 500'000'000;
constexpr unsigned kEndSeconds = 25;  // time limit for writers of files, streams and devices

void Pause() noexcept {
  usleep(2000);
}

bool AnyLeft(const ChildList& children, std::size_t count) noexcept {
  bool left = false;
  for (std::size_t n = 0; n < count; ++n) {
    if (waitpid(children[n], nullptr, WNOHANG) == 0) left = true;
  }
  return left;
}

// A separate program (an upload, a service), unlike worker processes: the launcher ends it, and reports that.
bool IsOtherProgram(pid_t child) noexcept {
  char path[64], own[PATH_MAX], other[PATH_MAX];
  std::snprintf(path, sizeof path, "/proc/%d/exe", child);
  const ssize_t own_length = readlink("/proc/self/exe", own, sizeof own), length = readlink(path, other, sizeof other);
  return own_length > 0 && length > 0 && (own_length != length || std::memcmp(own, other, length) != 0);
}

// Processes that must outlive the program ignore the signal: Python's resource tracker and torch's shared memory
// manager clean up once this process has closed its end of their pipe.
bool IgnoresTermination(pid_t child) noexcept {
  char path[64], line[256];
  std::snprintf(path, sizeof path, "/proc/%d/status", child);
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return false;
  unsigned long long ignored = 0;
  while (std::fgets(line, sizeof line, file) != nullptr && std::sscanf(line, "SigIgn: %llx", &ignored) != 1) {
  }
  std::fclose(file);
  return (ignored >> (SIGTERM - 1) & 1) != 0;
}

void EndChildren() noexcept {
  ChildList children;
  const auto* const end = std::remove_if(children.begin(), children.begin() + ListChildren(children), [](pid_t child) {
    return IgnoresTermination(child) || IsOtherProgram(child);
  });
  const auto count = static_cast<std::size_t>(end - children.begin());
  for (std::size_t n = 0; n < count; ++n) kill(children[n], SIGTERM);
  const std::uint64_t until = capture::NowNs() + kChildGraceNs;
  while (AnyLeft(children, count) && capture::NowNs() < until) Pause();
  if (!AnyLeft(children, count)) return;
  for (std::size_t n = 0; n < count; ++n) {
    if (waitpid(children[n], nullptr, WNOHANG) == 0) kill(children[n], SIGKILL);
  }
}

// The stream that the program writes to: an executable may have its own copies of the library's variables.
void FlushCppStream(void* library, const char* symbol) noexcept {
  void* const here = dlsym(RTLD_DEFAULT, symbol);
  void* const stream = here != nullptr ? here : dlsym(library, symbol);
  auto* const flush = reinterpret_cast<void* (*)(void*)>(dlsym(library, "_ZNSo5flushEv"));  // std::ostream::flush
  // Where nothing includes <iostream> it was never constructed: its first word, the pointer to virtual functions, is
  // null.
  if (stream != nullptr && flush != nullptr && *static_cast<void**>(stream) != nullptr) flush(stream);
}

// Flushes C's streams, and those of the program's C++ library; this library has its own.
void FlushStreams() noexcept {
  if (void* const library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD)) {
    for (const char* const symbol : {"_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"}) FlushCppStream(library, symbol);
  }
  std::fflush(nullptr);
}

// For the launcher: how a parent process reports this one's end (a notebook client: "kernel died") is not a failure of
// the program, and processes that the program leaves must end with it.
void TellLauncher(const Settings& settings) noexcept {
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/ended-%d", settings.run_dir, static_cast<int>(getpid()));
  const int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file >= 0) close(file);
}

}  // namespace

void StartWatchdog(const Settings& settings) noexcept {
  static unsigned seconds;
  const std::uint64_t meeting_ns = settings.several_ranks ? settings.rank_timeout_ns : 0;
  seconds = kEndSeconds + static_cast<unsigned>(meeting_ns / 1'000'000'000u);
  pthread_t watchdog;
  const int error = pthread_create(
      &watchdog, nullptr,
      [](void*) -> void* {
        sleep(seconds);
        capture::Close(true);
        _exit(0);
      },
      nullptr);
  if (error == 0) pthread_detach(watchdog);
}

void EndProgram(const Settings& settings) noexcept {
  TellLauncher(settings);
  MeetRanks(settings);
  if (settings.mode == Mode::kTrace) WaitForWriters();  // a timed trial's files are thrown away
  SynchroniseDevices();
  FinishDevices();
  FlushStreams();
  EndChildren();
  capture::Close(true);
  _exit(0);
}

}  // namespace loopscope
