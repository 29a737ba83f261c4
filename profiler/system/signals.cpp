#include "profiler/system/signals.h"

#include <unistd.h>

#include <initializer_list>

namespace loopscope {

namespace {

struct sigaction file_size_signal_before = {};  // zeros are SIG_DFL

// Signals that end a process by default and are not caused by its own faults.
sigset_t EndingSignals() {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO,
                           SIGPWR, SIGSTKFLT, SIGXCPU, SIGXFSZ}) {
    sigaddset(&mask, signal);
  }
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaddset(&mask, signal);
  return mask;
}

bool IsIgnored(int signal) {
  struct sigaction now = {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void IgnoreFileSizeSignal() {
  struct sigaction ignored = {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignored, &file_size_signal_before);
}

void RestoreFileSizeSignal() noexcept {
  sigaction(SIGXFSZ, &file_size_signal_before, nullptr);
}

bool IsInterrupt(std::uint32_t signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

Signals::Signals() {
  sigset_t mask = EndingSignals();
  sigemptyset(&ignored_);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (sigismember(&mask, signal) == 1 && IsIgnored(signal)) sigaddset(&ignored_, signal);
  }
  sigaddset(&mask, SIGCHLD);
  sigaddset(&mask, SIGPIPE);
  sigprocmask(SIG_BLOCK, &mask, &before_);
  fd_ = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
}

Signals::~Signals() {
  interrupted();
  if (fd_ >= 0) close(fd_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

bool Signals::Ends(const signalfd_siginfo& info) const {
  const int signal = static_cast<int>(info.ssi_signo);
  return signal != SIGCHLD && signal != SIGPIPE && sigismember(&ignored_, signal) == 0;
}

bool Signals::interrupted() {
  signalfd_siginfo info;
  while (fd_ >= 0 && read(fd_, &info, sizeof info) == sizeof info) {
    if (Ends(info)) interrupted_ = true;
  }
  return interrupted_;
}

OtherSignals::OtherSignals() {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int signal : {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGURG, SIGWINCH, SIGABRT, SIGSEGV, SIGBUS, SIGFPE,
                           SIGILL, SIGTRAP, SIGSYS}) {
    sigaddset(&mask, signal);
  }
  sigprocmask(SIG_BLOCK, &mask, &before_);
  fd_ = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
}

OtherSignals::~OtherSignals() {
  if (fd_ >= 0) close(fd_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace loopscope
