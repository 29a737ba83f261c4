#include "profiler/launch/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "profiler/core/file_text.h"
#include "profiler/core/steps/step_ledger.h"
#include "profiler/importers/capture/run_files.h"
#include "profiler/importers/importers.h"
#include "profiler/launch/launch_environment.h"
#include "profiler/launch/outcome.h"
#include "profiler/launch/target_watch.h"
#include "profiler/system/folder_copy.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr char kDiedOfName[] = "died-of";  // in a launch's folder, written by the shim: the exception's name

// From exec to the end of warm-up.
double StartupSeconds(const Trace& trace, std::int64_t start_ns) {
  const std::optional<std::int64_t> opens_ns = StepLedger(trace).opens_ns();
  return opens_ns ? static_cast<double>(*opens_ns - start_ns) * 1e-9 : 0;
}

// With a target, a run that ends before its limit, or is ended at it, is as valid as one that reaches it.
void ReadTarget(const Launched& launched, const Trace& trace, const LaunchSpec& spec, LaunchResult& result) {
  AddTargetFacts(trace, spec.target->target, launched.end.start_ns, launched.by_output, result);
  if (result.steps_seen > 0 && result.status.end == LaunchEnd::kNoSteps) result.status = {};
  if (result.ok()) result.tail.clear();
}

LaunchResult ReadResult(const Launched& launched, const std::vector<std::string>& command, const LaunchSpec& spec) {
  Result<Trace> trace = ReadAnyTrace(launched.directory);
  LaunchResult result = trace ? LaunchFacts(*trace, spec.whole_epochs) : LaunchResult{};
  if (trace && spec.target) ReadTarget(launched, *trace, spec, result);
  if (!trace) {
    result.status = {LaunchEnd::kNoSteps};
    result.tail = WhyNoLibTorch(InspectProgram(command.front()));
  } else {
    result.startup_s = StartupSeconds(*trace, launched.end.start_ns);
  }
  const LaunchStatus status = StatusOf(launched.end, command);
  const bool at_limit = spec.target && launched.end.how == ProcessEnd::How::kTimeout && result.ok();
  if (status.end != LaunchEnd::kOk && !at_limit) result.status = status;
  if (!launched.end.ok() && !at_limit) result.tail = launched.end.tail;
  result.exit_status = launched.end.status;
  result.wall_s = launched.end.wall_s;
  return result;
}

// The shim leaves a file for each process whose bounded run it ended.
bool ProbeEndedAny(const fs::path& directory) {
  std::error_code error;
  const fs::directory_iterator files(directory, error);
  return std::ranges::any_of(
      files, [](const fs::directory_entry& file) { return file.path().filename().native().starts_with("ended-"); });
}

// Every rank that began must have reached its end.
bool ProbeEndedIt(const fs::path& directory) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".began" && !fs::exists(fs::path(path).replace_extension(".ended"), error)) return false;
  }
  return ProbeEndedAny(directory);
}

// Trials write into this folder instead of elsewhere.
bool IsFull(const fs::path& folder) {
  constexpr std::uintmax_t kLeast = 1 << 20;
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  return !error && space.available < kLeast;
}

// Each rank leaves a file when it begins.
bool HadRanks(const fs::path& directory) {
  std::error_code error;
  const fs::directory_iterator files(directory, error);
  return std::ranges::any_of(files, [](const auto& entry) { return entry.path().extension() == ".began"; });
}

}  // namespace

LaunchStatus StatusOf(const ProcessEnd& end, const std::vector<std::string>& command) {
  if (!end.full.empty() && !end.ok()) {
    return {LaunchEnd::kOther, "no space is left in " + end.full + ": set TMPDIR to a folder with more"};
  }
  switch (end.how) {
    case ProcessEnd::How::kTimeout:
      return {LaunchEnd::kTimeout};
    case ProcessEnd::How::kInterrupted:
      return {LaunchEnd::kInterrupted};
    case ProcessEnd::How::kSignaled:
      return {LaunchEnd::kSignal, std::to_string(end.status - 128)};
    case ProcessEnd::How::kNotStarted:
      return {LaunchEnd::kOther, DescribeStart(end, command).what};
    case ProcessEnd::How::kExited:
      break;
  }
  if (end.status == 0) return {};
  return {LaunchEnd::kExit, std::to_string(end.status)};
}

std::string FileLabel(std::string_view label) {
  std::string name;
  for (const unsigned char c : label) {
    const bool plain = std::isalnum(c) || c == '.' || c == '_' || c == '=';
    if (plain) name += static_cast<char>(c);
    if (!plain && !name.empty() && name.back() != '-') name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name.substr(0, 80);
}

Result<fs::path> ProgramLauncher::MakeFolder(const LaunchSpec& spec) {
  const bool in_scratch = setup_.recording.empty();
  const fs::path folder =
      in_scratch ? setup_.scratch / "launches" / fmt::format("{:03}-{}", launches_++, FileLabel(spec.label))
                 : setup_.recording;
  std::error_code error;
  fs::create_directories(folder / "files", error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) {
    return Error{"cannot be made: " + error.message(), folder,
                 in_scratch ? "set TMPDIR to a folder with space" : "name another with -o DIR"};
  }
  return folder;
}

std::vector<std::string> Side::Resolved() const {
  std::vector<std::string> resolved = command;
  const bool relative =
      !resolved.empty() && resolved.front().find('/') != std::string::npos && !resolved.front().starts_with('/');
  if (!folder.empty() && relative) resolved.front() = (folder / resolved.front()).lexically_normal();
  return resolved;
}

Result<Launched> ProgramLauncher::Start(const LaunchSpec& spec) {
  const auto folder = MakeFolder(spec);
  if (!folder) return folder.error();
  return StartIn(*folder, spec);
}

Result<Launched> ProgramLauncher::StartIn(const fs::path& folder, const LaunchSpec& spec) {
  const Side& side = setup_.sides[static_cast<std::size_t>(spec.side)];
  const fs::path start = side.folder.empty() ? fs::current_path() : side.folder;
  std::optional<ContainedWorld> world;
  if (setup_.containment) {
    auto made = ContainedWorld::Make(*setup_.containment, setup_.scratch / "containment" / folder.filename(), folder,
                                     start, caches_.filled());
    if (!made) return made.error();
    world.emplace(std::move(*made));
  }
  Environment own = OwnEnvironment();
  for (const auto& [name, value] : side.environment) own[name] = value;
  Environment environment =
      LaunchEnvironment(own, spec, {folder, folder / "files", setup_.containment.has_value()}, setup_.probes);
  if (!WhyNotPreloaded(side.Resolved()).empty()) LeaveOutPreloaded(own, environment);
  if (world) environment["PWD"] = world->working_directory();
  RunInfo info = RunInfoOf(side.command, environment);
  info.working_directory = start;
  info.environment.erase("LD_PRELOAD");  // the user's own, if any, not ours
  if (const auto preload = own.find("LD_PRELOAD"); preload != own.end()) info.environment.insert(*preload);
  if (const auto written = WriteRunJson(folder / "run.json", info); !written) return written.error();

  ProcessSpec process;
  process.command = side.command;
  process.environment = AsStrings(environment);
  process.world = world ? &*world : nullptr;
  process.prepare = setup_.prepare;
  process.prepare_environment = AsStrings(own);
  const bool trial = setup_.containment.has_value();
  process.role = trial ? Role::kTrial : Role::kTraining;
  if (trial) process.output = folder / "output.txt";
  process.waits_for_left = spec.turn_steps == 0;
  process.was_ended = [&] { return ProbeEndedAny(folder); };
  process.stdout_to_stderr = setup_.stdout_to_stderr;
  process.timeout_s = trial ? spec.timeout_s : 0;
  std::optional<TargetFollower> follower;
  if (spec.target) follower.emplace(*spec.target, folder, process.output);
  if (follower) process.enough = [&](double now_s) { return follower->Reached(now_s); };
  Launched launched{{}, folder, RunProcess(process, signals_)};
  std::error_code ignored;
  if (launched.end.tail.empty()) launched.end.tail = FileText(folder / kDiedOfName);
  fs::remove(folder / kDiedOfName, ignored);
  if (trial && !launched.end.ok() && IsFull(setup_.scratch)) launched.end.full = setup_.scratch.parent_path();
  if (follower) launched.by_output = {!spec.target->regex.empty(), follower->reached_s(), follower->best()};
  if (launched.end.how == ProcessEnd::How::kExited && !launched.end.ok() && ProbeEndedIt(folder)) {
    launched.status_after_end = std::exchange(launched.end.status, 0);
  }
  // A launch that takes turns is followed by another process, whose changes to caches_ would be lost.
  if (world && launched.end.ok() && spec.turn_steps == 0) caches_.Take(*world, spec.side, own);
  info.exit_status = launched.end.status;
  if (const auto written = WriteRunJson(folder / "run.json", info); !written) return written.error();
  return launched;
}

fs::path ProgramLauncher::PutAway(const fs::path& directory, bool failed) {
  RemoveTree(directory / "files");
  if ((failed || setup_.keep) && !setup_.kept.empty()) {
    const fs::path kept = setup_.kept / directory.filename();
    if (MovePath(directory, kept)) return kept;
  }
  RemoveTree(directory);
  return {};
}

LaunchResult ProgramLauncher::LaunchIn(const Result<fs::path>& folder, const LaunchSpec& spec) {
  const auto launched = folder ? StartIn(*folder, spec) : Result<Launched>(folder.error());
  if (!launched) {
    LaunchResult result;
    result.status = {LaunchEnd::kOther, launched.error().Message()};
    return result;
  }
  LaunchResult result = ReadResult(*launched, setup_.sides[static_cast<std::size_t>(spec.side)].Resolved(), spec);
  several_ranks_ = several_ranks_ || HadRanks(launched->directory);
  const bool interrupted = launched->end.how == ProcessEnd::How::kInterrupted;
  result.directory = PutAway(launched->directory, !result.ok() && !interrupted);
  return result;
}

LaunchResult ProgramLauncher::Launch(const LaunchSpec& spec) {
  LaunchResult result = LaunchIn(MakeFolder(spec), spec);
  fullest_bytes_ = std::max(fullest_bytes_, result.peak_bytes);
  return result;
}

}  // namespace loopscope
