// Signals while programs run: they arrive as data, so that recordings are still reported, and so that a started program
// gets the signals that are meant for it.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <cstdint>

namespace loopscope {

bool IsInterrupt(std::uint32_t signal);  // SIGINT, SIGTERM or SIGHUP

// Beyond a file size limit (ulimit -f) our writes fail instead of a signal ending us. Once, before any thread.
void IgnoreFileSizeSignal();
// What the signal did before, for a program that we start. Safe between fork and exec.
void RestoreFileSizeSignal() noexcept;

// While it lives, every signal that would end this process from outside is blocked and arrives through fd(), and so do
// SIGCHLD and SIGPIPE. One at a time.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_; }                      // a signalfd, not blocking; -1 when there is none
  const sigset_t& before() const { return before_; }  // the mask that a child gets back
  // Whether it asks us to end: not signals ignored since our start (nohup), nor SIGCHLD and SIGPIPE.
  bool Ends(const signalfd_siginfo& info) const;
  void Interrupt() { interrupted_ = true; }
  bool interrupted();  // also looks at what has arrived since

 private:
  int fd_ = -1;
  sigset_t before_, ignored_;
  bool interrupted_ = false;
};

// Also routes other signals for a program, and those that stop and continue it, through fd(). For a program that takes
// our place.
class OtherSignals {
 public:
  OtherSignals();
  ~OtherSignals();
  OtherSignals(const OtherSignals&) = delete;
  OtherSignals& operator=(const OtherSignals&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_ = -1;
  sigset_t before_;
};

}  // namespace loopscope
