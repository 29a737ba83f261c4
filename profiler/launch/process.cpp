#include "profiler/launch/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <optional>

#include "profiler/launch/witness.h"
#include "profiler/system/process_tree.h"

namespace loopscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kAskEveryMs = 20;
constexpr double kGraceSeconds = 1;  // for processes that a bounded run left behind
constexpr unsigned kAboveStandard = STDERR_FILENO + 1;

// From the child to us through a pipe that a successful exec closes.
struct StartFailure {
  int error = 0;
  char step[120] = "";
};

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& one : strings) pointers.push_back(const_cast<char*>(one.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

class Running {
 public:
  Running(const ProcessSpec& spec, Signals& signals)
      : spec_(spec),
        signals_(signals),
        streams_(spec.output, spec.stdout_to_stderr),
        is_trial_(spec.role == Role::kTrial),
        arguments_(Pointers(spec.command)),
        environment_(Pointers(spec.environment)),
        prepare_environment_(Pointers(spec.prepare_environment)) {}

  ProcessEnd Run() {
    BecomeSubreaper();
    start_ = Clock::now();
    end_.start_ns = start_.time_since_epoch().count();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return NotStarted(errno, "a pipe");
    main_ = fork();
    if (main_ == 0) Child(ends[1]);
    if (spec_.role == Role::kTraining) witness_.emplace();
    close(ends[1]);
    exec_pipe_ = ends[0];
    if (main_ < 0) return NotStarted(errno, "a process");
    if (is_trial_) setpgid(main_, main_);
    Follow();
    witness_.reset();
    EndWhatIsLeft();
    end_.wall_s = std::chrono::duration<double>(Clock::now() - start_).count();
    ReadStartFailure();
    close(exec_pipe_);
    end_.tail = streams_.Tail();
    end_.shown = spec_.output.empty();
    return std::move(end_);
  }

 private:
  ProcessEnd NotStarted(int error, const char* step) {
    end_.how = ProcessEnd::How::kNotStarted;
    end_.error = error;
    end_.reason = step;
    end_.status = 126;
    return std::move(end_);
  }

  [[noreturn]] static void Fail(int pipe, const char* step, int error) noexcept {
    StartFailure failure;
    failure.error = error;
    std::strncpy(failure.step, step, sizeof failure.step - 1);
    if (write(pipe, &failure, sizeof failure) < 0) _exit(125);
    _exit(error == ENOENT ? 127 : 126);
  }

  [[noreturn]] void Child(int pipe) noexcept {
    if (is_trial_) setpgid(0, 0);
    if (spec_.role != Role::kTraining) {
      prctl(PR_SET_PDEATHSIG, is_trial_ ? SIGKILL : SIGTERM);
      const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
      dup2(nothing, STDIN_FILENO);
    }
    RestoreFileSizeSignal();
    streams_.InChild();
    if (is_trial_) CloseAtExec();
    if (spec_.world) {
      const auto entered = spec_.world->Enter();
      if (entered.failed) Fail(pipe, entered.failed, entered.error);
    }
    Prepare(pipe);
    sigprocmask(SIG_SETMASK, &signals_.before(), nullptr);
    execvpe(arguments_[0], arguments_.data(), environment_.data());
    Fail(pipe, "", errno);
  }

  // Our parent may have left files and pipes open, which a rerun must neither change nor read.
  static void CloseAtExec() noexcept {
    if (close_range(kAboveStandard, ~0u, CLOSE_RANGE_CLOEXEC) == 0) return;
    const long most = sysconf(_SC_OPEN_MAX);
    for (int fd = kAboveStandard; fd < std::min(most, 65536L); ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
  }

  void Prepare(int pipe) noexcept {
    if (spec_.prepare.empty()) return;
    const pid_t child = fork();
    if (child == 0) {
      sigprocmask(SIG_SETMASK, &signals_.before(), nullptr);
      execle("/bin/sh", "sh", "-c", spec_.prepare.c_str(), static_cast<char*>(nullptr), prepare_environment_.data());
      _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) Fail(pipe, "the command of --prepare", errno);
    if (status != 0) Fail(pipe, "the command of --prepare", 0);
  }

  void Follow() {
    std::optional<OtherSignals> others;
    if (spec_.role == Role::kTraining) others.emplace();
    while (!ended_) {
      pollfd polled[] = {{signals_.fd(), POLLIN, 0}, {others ? others->fd() : -1, POLLIN, 0}};
      poll(polled, std::size(polled), MillisecondsLeft());
      TakeSignals(signals_.fd());
      if (others) TakeSignals(others->fd());
      if (const std::string now = others ? ExecutableOf(main_) : ""; !now.empty()) executable_ = now;
      Reap();
      if (!ended_ && spec_.timeout_s > 0 && Elapsed() > spec_.timeout_s && !timed_out_) {
        timed_out_ = true;
        KillTree(main_);
      }
      AskEnough();
    }
  }

  void AskEnough() {
    if (!spec_.enough || enough_ || timed_out_ || !spec_.enough(Elapsed())) return;
    enough_ = true;
    if (!ended_) KillTree(main_);
  }

  bool EndedByItself() const { return !enough_ && !timed_out_ && !(spec_.was_ended && spec_.was_ended()); }

  void EndWhatIsLeft() {
    if (!is_trial_) {
      if (!EndedByItself()) end_.left = EndChildren(kGraceSeconds, executable_);
      return;
    }
    // Do not wait for descendants of a failed program.
    if (interrupts_ == 0 && end_.ok() && spec_.waits_for_left && EndedByItself()) WaitForChildren();
    EndChildren(0);
  }

  // Descendants may still write output after the program's own end.
  void WaitForChildren() {
    while (interrupts_ == 0 && HasChildren() && (spec_.timeout_s <= 0 || Elapsed() < spec_.timeout_s)) {
      pollfd polled{signals_.fd(), POLLIN, 0};
      poll(&polled, 1, static_cast<int>(kAskEveryMs));
      TakeSignals(signals_.fd());
      Reap();
    }
  }

  double Elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  int MillisecondsLeft() const {
    const double most = spec_.enough ? kAskEveryMs : 1000;
    if (spec_.timeout_s <= 0 || timed_out_) return static_cast<int>(most);
    return static_cast<int>(std::clamp((spec_.timeout_s - Elapsed()) * 1000 + 1, 1.0, most));
  }

  void TakeSignals(int fd) {
    signalfd_siginfo info;
    while (read(fd, &info, sizeof info) == sizeof info) {
      const bool ends = signals_.Ends(info) && (is_trial_ || IsInterrupt(info.ssi_signo));
      if (ends) {
        signals_.Interrupt();
        ++interrupts_;
      }
      if (is_trial_) {
        if (ends) KillTree(main_);
      } else {
        PassOn(info);
      }
    }
  }

  // The program already has signals from the keyboard, and those sent to the whole process group.
  void PassOn(const signalfd_siginfo& info) {
    const int signal = static_cast<int>(info.ssi_signo);
    const bool keyboard = info.ssi_code > 0 && !IsForLeaderAlone(info.ssi_signo);
    const bool had = keyboard || (signal != SIGCHLD && signal != SIGPIPE && witness_ && witness_->Saw(signal) &&
                                  getpgid(main_) == getpgrp());
    if (!had && !ended_ && info.ssi_code == SI_QUEUE) {
      sigqueue(main_, signal, {.sival_ptr = reinterpret_cast<void*>(info.ssi_ptr)});
    } else if (!had && !ended_) {
      kill(main_, signal);
    }
    // Stop too, so that our parent sees that the program stops, and continues.
    if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) raise(SIGSTOP);
  }

  // When a terminal goes away, only its session's leader gets SIGHUP.
  static bool IsForLeaderAlone(std::uint32_t signal) { return signal == SIGHUP && getsid(0) == getpid(); }

  void Reap() {
    int status = 0;
    pid_t reaped;
    while ((reaped = waitpid(-1, &status, WNOHANG)) > 0) {
      if (reaped == main_) Ended(status);
    }
  }

  void Ended(int status) {
    using How = ProcessEnd::How;
    ended_ = true;
    end_.how = WIFSIGNALED(status) ? How::kSignaled : How::kExited;
    end_.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (interrupts_ > 0) end_.how = How::kInterrupted;
    if (timed_out_) end_.how = How::kTimeout;
    if (enough_ && interrupts_ == 0) {
      end_.how = How::kExited;
      end_.status = 0;
    }
  }

  void ReadStartFailure() {
    StartFailure failure;
    if (read(exec_pipe_, &failure, sizeof failure) != sizeof failure) return;
    end_.how = ProcessEnd::How::kNotStarted;
    end_.error = failure.error;
    end_.reason = failure.step;
  }

  const ProcessSpec& spec_;
  Signals& signals_;
  ProcessStreams streams_;
  const bool is_trial_;
  // Prepared before fork: the child only makes system calls.
  std::vector<char*> arguments_, environment_, prepare_environment_;
  Clock::time_point start_;
  pid_t main_ = -1;
  std::optional<Witness> witness_;  // of a training, which is in our process group
  int exec_pipe_ = -1, interrupts_ = 0;
  bool ended_ = false, timed_out_ = false, enough_ = false;
  std::string executable_;  // of a training, while it ran
  ProcessEnd end_;
};

}  // namespace

ProcessEnd RunProcess(const ProcessSpec& spec, Signals& signals) {
  return Running(spec, signals).Run();
}

}  // namespace loopscope
