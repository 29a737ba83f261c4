// Launches side by side: a helper process follows each program to its end, and this process hands out the turns.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "probes/environment.h"
#include "profiler/core/host.h"
#include "profiler/core/launch_text.h"
#include "profiler/core/text.h"
#include "profiler/launch/launcher.h"
#include "profiler/launch/turn_taking.h"
#include "profiler/system/process_tree.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr double kBytesOfPeak = 2;  // a program's worker processes may hold as much as it does itself

double AvailableBytes() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  double kilobytes = 0;
  while (file >> name >> kilobytes && std::getline(file, unit)) {
    if (name == "MemAvailable:") return 1024 * kilobytes;
  }
  return 0;
}

// Opened for both directions, so that neither end ever waits for the other to open it.
int MakePipe(const fs::path& path) {
  return mkfifo(path.c_str(), 0600) == 0 ? open(path.c_str(), O_RDWR | O_CLOEXEC) : -1;
}

bool SendAll(int pipe, const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t one = write(pipe, text.data() + sent, text.size() - sent);
    if (one < 0) return false;
    sent += static_cast<std::size_t>(one);
  }
  return true;
}

void Close(TurnTaker& taker) {
  for (const int pipe : {taker.over, taker.begin, taker.result}) {
    if (pipe >= 0) close(pipe);
  }
  if (taker.keeper > 0) waitpid(taker.keeper, nullptr, 0);
}

int RoundsOf(const LaunchSpec& spec) {
  return (spec.steps + spec.turn_steps - 1) / std::max(spec.turn_steps, 1);
}

LaunchResult ResultFrom(const TurnTaker& taker, int turns) {
  LaunchResult result;
  if (std::optional<LaunchResult> told = ResultOf(taker.written)) {
    result = std::move(*told);
  } else {
    result.status = {LaunchEnd::kOther, "the process that followed it ended"};
  }
  if (result.ok() && taker.turns < turns) result.status = {LaunchEnd::kTookNoTurns};
  return result;
}

}  // namespace

bool ProgramLauncher::CanTakeTurns() const {
  const auto& containment = setup_.containment;
  return containment && containment->kind != ContainmentKind::kUncontained && containment->links_out.empty() &&
         setup_.prepare.empty() && ThisHost().gpus.empty();
}

Result<std::vector<LaunchResult>> ProgramLauncher::LaunchTogether(std::span<const LaunchSpec> specs) {
  if (several_ranks_) return Error{"several ranks wait for each other, so that none can be stopped alone", "", ""};
  if (kBytesOfPeak * fullest_bytes_ * static_cast<double>(specs.size()) > AvailableBytes()) {
    return Error{"the memory may not hold them all", "", ""};
  }
  const auto start = std::chrono::steady_clock::now();
  BecomeSubreaper();
  std::vector<TurnTaker> takers;
  for (const LaunchSpec& spec : specs) takers.push_back(StartKeeper(spec, static_cast<int>(specs.size())));
  TakeTurns(takers, RoundsOf(specs.front()), specs.front().seed.value_or(0) ^ TextHash(specs.front().label), signals_);
  std::vector<LaunchResult> results;
  for (TurnTaker& taker : takers) {
    results.push_back(ResultFrom(taker, 1 + RoundsOf(specs.front())));
    Close(taker);
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  for (LaunchResult& result : results) result.wall_s = wall.count() / static_cast<double>(specs.size());
  return results;
}

TurnTaker ProgramLauncher::StartKeeper(const LaunchSpec& spec, int among) {
  TurnTaker taker;
  const Result<fs::path> folder = MakeFolder(spec);
  if (folder) {
    taker.over = MakePipe(*folder / env::kTurnOverPipe);
    taker.begin = MakePipe(*folder / env::kTurnBeginPipe);
  }
  int result[2] = {-1, -1};
  if (pipe2(result, O_CLOEXEC) == 0) taker.keeper = fork();
  if (taker.keeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // which ends the program with all its processes, as an interrupt does
    close(result[0]);
    LaunchSpec patient = spec;
    patient.timeout_s *= among;
    _exit(SendAll(result[1], ResultText(LaunchIn(folder, patient))) ? 0 : 1);
  }
  if (result[1] >= 0) close(result[1]);
  taker.result = result[0];
  taker.ended = taker.keeper < 0;
  return taker;
}

}  // namespace loopscope
