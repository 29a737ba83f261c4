#include "workloads/common/ranks/rank_launcher.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "workloads/common/ranks/rank_positions.h"
#include "workloads/common/ranks/ranks.h"

namespace loopscope::train {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr char kLauncherPid[] = "LOOPSCOPE_TRAIN_LAUNCHER";
// A rank that fails makes the others fail: failures within this time are judged together.
constexpr milliseconds kSettling{200};
constexpr milliseconds kGrace{2000};  // between asking a rank to end and ending it
constexpr milliseconds kPoll{5};

volatile sig_atomic_t asked_to_end = 0;

// On a signal the launcher ends its ranks and removes its folder before it exits.
void ListenForEnd() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { asked_to_end = signal; };  // no SA_RESTART: waitpid returns
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

// This run's own folder, removed when the launcher ends.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "loopscope-ranks-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
    }
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Child {
  int rank = 0;
  pid_t pid = 0;
  bool running = true;
  int status = 0;  // as waitpid reports it

  bool failed() const { return !running && status != 0; }
  int exit_status() const { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }
  std::string End() const {
    if (!WIFSIGNALED(status)) return fmt::format("failed with status {}", WEXITSTATUS(status));
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
};

std::vector<std::string> EnvironmentOf(int rank, int count, const fs::path& folder) {
  const std::vector<std::pair<std::string, std::string>> own = {
      {"RANK", std::to_string(rank)},
      {"WORLD_SIZE", std::to_string(count)},
      {"LOCAL_RANK", std::to_string(rank)},
      {"LOCAL_WORLD_SIZE", std::to_string(count)},
      {kRanksStore, (folder / "store").string()},
      {kLauncherPid, std::to_string(getpid())},
  };
  std::vector<std::string> variables;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string name(*one, std::strcspn(*one, "="));
    if (std::ranges::find(own, name, &std::pair<std::string, std::string>::first) == own.end()) {
      variables.emplace_back(*one);
    }
  }
  for (const auto& [name, value] : own) variables.push_back(name + "=" + value);
  return variables;
}

class Launch {
 public:
  Launch(std::string_view program, int count)
      : program_(program), positions_(folder_.path() / "store.positions", count, /*make=*/true) {}
  ~Launch() { EndOthers(); }

  void Start(int count, char** argv) {
    for (int rank = 0; rank < count; ++rank) {
      std::vector<std::string> variables = EnvironmentOf(rank, count, folder_.path());
      std::vector<char*> pointers;
      for (std::string& one : variables) pointers.push_back(one.data());
      pointers.push_back(nullptr);
      pid_t pid = 0;
      const int error = posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv, pointers.data());
      if (error != 0) throw std::runtime_error(fmt::format("cannot start rank {}: {}", rank, std::strerror(error)));
      children_.push_back({.rank = rank, .pid = pid});
    }
  }

  int Wait() {
    while (Running() > 0 && !AnyFailed() && !asked_to_end) Reap(/*block=*/true);
    if (asked_to_end) return 128 + asked_to_end;
    if (!AnyFailed()) return 0;
    WaitFor(kSettling);
    const Child& first = FirstToBlame();
    fmt::print(stderr, "{}: rank {} {} in {}{}\n", program_, first.rank, first.End(), positions_.Describe(first.rank),
               Others(first.rank));
    EndOthers();
    return first.exit_status();
  }

 private:
  long Running() const { return std::ranges::count_if(children_, &Child::running); }
  bool AnyFailed() const { return std::ranges::any_of(children_, &Child::failed); }

  // A rank killed by a signal did not fail because of another one.
  const Child& FirstToBlame() const {
    const auto killed =
        std::ranges::find_if(children_, [](const Child& one) { return one.failed() && WIFSIGNALED(one.status); });
    return killed != children_.end() ? *killed : *std::ranges::find_if(children_, &Child::failed);
  }

  std::string Others(int but) const {
    std::string text;
    for (const Child& one : children_) {
      if (one.rank != but) text += fmt::format("; rank {} was in {}", one.rank, positions_.Describe(one.rank));
    }
    return text;
  }

  void Reap(bool block) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, block ? 0 : WNOHANG);
    const auto child = std::ranges::find(children_, pid, &Child::pid);
    if (pid <= 0 || child == children_.end()) return;
    child->running = false;
    child->status = status;
  }

  void WaitFor(milliseconds time) {
    const auto until = Clock::now() + time;
    while (Running() > 0 && Clock::now() < until) {
      Reap(/*block=*/false);
      std::this_thread::sleep_for(kPoll);
    }
  }

  void Signal(int signal) {
    for (const Child& one : children_) {
      if (one.running) kill(one.pid, signal);
    }
  }

  void EndOthers() {
    if (Running() == 0) return;
    Signal(SIGTERM);
    WaitFor(kGrace);
    Signal(SIGKILL);
    while (Running() > 0) Reap(/*block=*/true);
  }

  std::string_view program_;
  Folder folder_;
  RankPositions positions_;
  std::vector<Child> children_;
};

}  // namespace

int LaunchRanks(std::string_view program, int count, char** argv) {
  if (const auto warning = WarnOfRanks(count)) fmt::print(stderr, "{}: {}\n", program, *warning);
  std::fflush(nullptr);
  ListenForEnd();
  Launch launch(program, count);
  launch.Start(count, argv);
  return launch.Wait();
}

void EndWithLauncher() {
  const char* launcher = std::getenv(kLauncherPid);
  if (launcher == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have ended before that took effect.
  if (std::to_string(getppid()) != launcher) std::_Exit(1);
}

}  // namespace loopscope::train
