#include "probes/preload/turns.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "probes/capture/writer.h"
#include "probes/environment.h"

namespace loopscope::turns {
namespace {

// All but the atomic ones are used only by the training thread.
std::uint64_t turn_steps = 0, steps = 0;
bool started = false, measuring = false;
int over = -1, begin = -1;  // pipes: our turn is over; the next one begins
std::atomic<std::uint64_t> waited_ns{0}, last_wait_ns{0}, last_began_ns{0};

int OpenPipe(const char* folder, const char* name, int flags) noexcept {
  char path[4096];
  const int length = std::snprintf(path, sizeof path, "%s/%s", folder, name);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return -1;
  return open(path, flags | O_CLOEXEC);
}

bool OpenPipes() noexcept {
  const char* folder = std::getenv(env::kRunDir);
  if (folder == nullptr) return false;
  // Neither waits: the launcher holds both open while it lives.
  over = OpenPipe(folder, env::kTurnOverPipe, O_WRONLY | O_NONBLOCK);
  begin = over < 0 ? -1 : OpenPipe(folder, env::kTurnBeginPipe, O_RDONLY);
  return begin >= 0;
}

// Whether a byte came; false if the sender is gone.
bool Await(int pipe) noexcept {
  char byte = 0;
  ssize_t got = 0;
  do got = read(pipe, &byte, 1);
  while (got < 0 && errno == EINTR);
  return got == 1;
}

bool Send(int pipe, char byte) noexcept {
  ssize_t sent = 0;
  do sent = write(pipe, &byte, 1);
  while (sent < 0 && errno == EINTR);
  return sent == 1;
}

void Wait(env::TurnOver what) noexcept {
  const std::uint64_t since = capture::NowNs();
  if (!Send(over, static_cast<char>(what)) || !Await(begin)) turn_steps = 0;
  const std::uint64_t waited = capture::NowNs() - since;
  last_began_ns.store(since, std::memory_order_relaxed);
  last_wait_ns.store(waited, std::memory_order_relaxed);
  waited_ns.fetch_add(waited, std::memory_order_relaxed);
}

}  // namespace

void Start() noexcept {
  const char* text = std::getenv(env::kTurns);
  turn_steps = text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
}

void StepEnded(bool opens, bool closes) noexcept {
  if (turn_steps == 0) return;
  if (!started) {
    started = true;
    if (!OpenPipes()) turn_steps = 0;
    if (turn_steps != 0 && !opens) Wait(env::TurnOver::kBeforeWarmup);
    if (turn_steps == 0) return;
  }
  measuring |= opens;
  if (!measuring) return;
  if (!opens && !closes && ++steps < turn_steps) return;
  steps = 0;
  measuring = !closes;
  Wait(env::TurnOver::kInWindow);
}

bool EndsNext() noexcept {
  return measuring && steps + 1 >= turn_steps;
}

std::uint64_t WaitedNs(std::uint64_t time_ns) noexcept {
  const bool before_last = time_ns <= last_began_ns.load(std::memory_order_relaxed);
  return waited_ns.load(std::memory_order_relaxed) - (before_last ? last_wait_ns.load(std::memory_order_relaxed) : 0);
}

}  // namespace loopscope::turns
