#include "profiler/launch/witness.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

namespace loopscope {
namespace {

// One kill() signals all members of a group before it returns: we may run slightly before the last of them has it.
constexpr std::chrono::milliseconds kLook{5};
constexpr int kLooks = 5;

// A search for our command line (pkill) must not find the witness. After fork: system calls only, and nothing that
// takes a lock.
void HideCommandLine() noexcept {
  char text[1024] = {};
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0 || read(file, text, sizeof text - 1) <= 0) return;
  const char* at = std::strrchr(text, ')');  // the end of field 2
  for (int field = 2; at != nullptr && field < 48; ++field) at = std::strchr(at + 1, ' ');
  std::uint64_t first = 0, end = 0;
  if (at == nullptr || std::sscanf(at, "%" SCNu64 " %" SCNu64, &first, &end) != 2 || end < first) return;
  std::memset(reinterpret_cast<void*>(first), 0, end - first);
}

}  // namespace

void Witness::Start() {
  process_ = fork();
  if (process_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "witness");
  HideCommandLine();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  close_range(0, ~0u, 0);  // keep no inherited pipe open
  if (getppid() == 1) _exit(0);
  while (true) pause();
}

void Witness::End() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

std::uint64_t Witness::Pending() const {
  std::ifstream status(fmt::format("/proc/{}/status", process_));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("ShdPnd:")) return std::stoull(line.substr(7), nullptr, 16);
  }
  return 0;
}

bool Witness::Saw(int signal) {
  if (process_ <= 0) return false;
  const std::uint64_t bit = std::uint64_t{1} << (signal - 1);
  for (int look = 0; look < kLooks && (seen_ & bit) == 0; ++look) {
    if (look > 0) std::this_thread::sleep_for(kLook);
    const std::uint64_t pending = Pending();
    if ((pending & bit) == 0) continue;
    seen_ |= pending;  // a pending signal would hide the next one of its kind: restart
    End();
    Start();
  }
  const bool saw = (seen_ & bit) != 0;
  seen_ &= ~bit;
  return saw;
}

}  // namespace loopscope
