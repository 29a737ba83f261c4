#include "profiler/system/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <initializer_list>

namespace loopscope {

namespace {

struct sigaction file_size_signal_before = {};  // zeros are SIG_DFL

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
  sigset_t mask;
  sigemptyset(&mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE}) sigaddset(&mask, signal);
  sigprocmask(SIG_BLOCK, &mask, &before_);
  fd_ = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
}

Signals::~Signals() {
  interrupted();
  if (fd_ >= 0) close(fd_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

bool Signals::interrupted() {
  signalfd_siginfo info;
  while (fd_ >= 0 && read(fd_, &info, sizeof info) == sizeof info) {
    if (IsInterrupt(info.ssi_signo)) interrupted_ = true;
  }
  return interrupted_;
}

}  // namespace loopscope
