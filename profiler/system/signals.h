// Interrupts while programs run: they arrive as data, so that what was recorded is still reported.
#pragma once

#include <signal.h>

#include <cstdint>

namespace loopscope {

bool IsInterrupt(std::uint32_t signal);  // SIGINT, SIGTERM or SIGHUP

// Past a limit on the size of files (ulimit -f) our writing fails, and no signal ends us. Once, before any thread.
void IgnoreFileSizeSignal();
// What the signal did before, for a program that we start. Safe between fork and exec.
void RestoreFileSizeSignal() noexcept;

// While it lives SIGINT, SIGTERM, SIGHUP, SIGCHLD and SIGPIPE are blocked and arrive through fd(). One at a time.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_; }                      // a signalfd, not blocking; -1 when there is none
  const sigset_t& before() const { return before_; }  // the mask that a child gets back
  void Interrupt() { interrupted_ = true; }
  bool interrupted();  // also looks at what has arrived since

 private:
  int fd_ = -1;
  sigset_t before_;
  bool interrupted_ = false;
};

}  // namespace loopscope
