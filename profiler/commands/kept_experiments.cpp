#include "profiler/commands/kept_experiments.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "profiler/containment/containment.h"
#include "profiler/core/file_text.h"
#include "profiler/core/text.h"
#include "profiler/core/write_file.h"
#include "profiler/experiments/gate/counter_file.h"
#include "profiler/experiments/journal.h"
#include "profiler/launch/launch_environment.h"
#include "profiler/launch/probe_build.h"
#include "profiler/launch/program.h"
#include "profiler/system/folders.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostKept = 32;
constexpr char kQuestionName[] = "question.txt", kJournalName[] = "journal.jsonl", kDiagnosisName[] = "diagnosis";

// Every option that changes what is launched, or how it is judged.
std::string SettingsText(const Options& o) {
  return fmt::format(
      "{} quick={} only={} skip={} target={} regex={} time={} alone={} blocks={} budget={} margin={} window={} "
      "warmup={} "
      "steps={} timeout={} seed={} no-seed={} loader-only={} grid={} prepare={} against-dir={} against-env={}",
      o.command, o.quick, fmt::join(o.selection.only, ","), fmt::join(o.selection.skip, ","), o.target.text,
      o.target.regex, o.time_s, o.alone, o.blocks.value_or(0), o.budget_s, o.margin, o.min_window_s,
      o.warmup.value_or(-1), o.steps.value_or(-1), o.launch_timeout_s.value_or(kLaunchTimeoutS), o.seed, o.no_seed,
      o.loader_only, o.command == "sweep" ? fmt::format("{}", fmt::join(o.inputs, " ")) : "", o.prepare,
      o.against_dir.native(), fmt::join(o.against_env, ","));
}

std::string MachineKey(const RunInfo& info) {
  const Fingerprint machine = FingerprintOf(info);
  return fmt::format("{}, {} cores, GPUs {}, driver {}, kernel {}", machine.cpu, machine.cores,
                     fmt::join(machine.gpus, ", "), machine.driver, info.versions.at("kernel"));
}

void RemoveOldest(const fs::path& folder) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> kept;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    kept.emplace_back(fs::last_write_time(entry.path(), error), entry.path());
  }
  std::ranges::sort(kept, std::greater());
  for (std::size_t i = kMostKept; i < kept.size(); ++i) RemoveTree(kept[i].second);
}

Result<void> CopyExperiment(const fs::path& from, const fs::path& to) {
  std::error_code error;
  for (const char* const name : {kDiagnosisName, kJournalName}) {
    if (!fs::exists(from / name, error)) continue;
    fs::copy(from / name, to / name, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
    if (error) return Error{error.message(), (to / name).native(), "make room there, or leave --reuse out"};
  }
  return {};
}

}  // namespace

KeptExperiment::KeptExperiment(fs::path folder, std::string question)
    : folder_(std::move(folder)), question_(std::move(question)) {}

Result<KeptExperiment> KeptExperiment::Of(const Options& options, const std::vector<std::vector<std::string>>& commands,
                                          const fs::path& executable) {
  const fs::path cache = UserCache();
  if (cache.empty()) return Error{"there is no cache to keep experiments in", "", "set HOME or XDG_CACHE_HOME"};
  const fs::path here = fs::current_path();
  const RunInfo info = RunInfoOf(options.program, OwnEnvironment());
  std::string question = fmt::format("{}\nmachine {}\nfolder {}\nenvironment {}\n", SettingsText(options),
                                     MachineKey(info), here.native(), fmt::join(info.environment, ", "));
  std::vector<std::vector<std::string>> all = commands;
  all.push_back({executable});
  for (const std::vector<std::string>& command : all) {
    const auto files = ProgramFiles(command, here);
    if (!files) return files.error();
    question += fmt::format("command {}\n{}", fmt::join(command, "\x1f"), *files);
  }
  return KeptExperiment(cache / "loopscope" / "experiments" / fmt::format("{:016x}", TextHash(question)), question);
}

std::optional<std::string> KeptExperiment::Take(const fs::path& output) const {
  std::error_code error;
  if (!fs::exists(folder_ / kJournalName, error) || FileText(folder_ / kQuestionName) != question_) return std::nullopt;
  const auto kept = fs::last_write_time(folder_ / kQuestionName, error);
  if (error || !CopyExperiment(folder_, output)) {
    RemoveTree(output / kDiagnosisName);
    fs::remove(output / kJournalName, error);
    return std::nullopt;
  }
  const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::file_clock::to_sys(kept));
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(std::chrono::system_clock::to_time_t(seconds)));
}

Result<void> KeptExperiment::Keep(const fs::path& output) const {
  std::error_code error;
  if (!fs::exists(output / kJournalName, error)) return {};
  // Written beside it and moved at once: two that end together leave one complete copy.
  const fs::path fresh = folder_.native() + fmt::format(".{}", getpid());
  if (const int failed = MakePrivateFolder(fresh); failed != 0) {
    return Error{std::strerror(failed), fresh.native(), "make the cache writable, or set XDG_CACHE_HOME"};
  }
  const auto copied = CopyExperiment(output, fresh);
  if (copied) {
    WritePrivateFile(fresh / kQuestionName, question_);
    RemoveTree(folder_);
    fs::rename(fresh, folder_, error);
  }
  RemoveTree(fresh);
  RemoveOldest(folder_.parent_path());
  return copied;
}

namespace {

constexpr std::size_t kMostModules = 5000;                // a folder with more is not one program's project
constexpr std::uintmax_t kMostHashedBytes = 64ull << 20;  // larger files are compared by size and time

std::string BySizeAndTime(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  const auto written = fs::last_write_time(path, error);
  return fmt::format("{} {} bytes, written {}\n", path.native(), bytes, written.time_since_epoch().count());
}

std::string ByContent(const fs::path& path) {
  std::error_code error;
  if (fs::file_size(path, error) > kMostHashedBytes) return BySizeAndTime(path);
  return fmt::format("{} {:016x}\n", path.native(), TextHash(FileText(path)));
}

// Folders of packages, version control and environments: not the program's own.
bool Foreign(const fs::path& folder) {
  const std::string name = folder.filename();
  std::error_code error;
  return name.starts_with('.') || name == "site-packages" || name == "__pycache__" || name == "loopscope-out" ||
         fs::exists(folder / "pyvenv.cfg", error);
}

// False when there are more than kMostModules.
bool AddModules(const fs::path& folder, std::set<fs::path>& files) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->is_directory(error) && Foreign(at->path())) at.disable_recursion_pending();
    if (at->path().extension() == ".py" && at->is_regular_file(error)) files.insert(at->path());
    if (files.size() > kMostModules) return false;
  }
  return true;
}

}  // namespace

Result<std::string> ProgramFiles(const std::vector<std::string>& command, const fs::path& folder) {
  const Program program = InspectProgram(command.front());
  const std::string interpreter = InterpreterOf(command);
  std::set<fs::path> named, modules;
  std::string text = ByContent(program.path);
  std::error_code error;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const fs::path path = fs::weakly_canonical(folder / command[i], error);
    if (fs::is_regular_file(path, error)) named.insert(path);
  }
  for (const std::string& library : LinkedLibraries(program)) text += BySizeAndTime(library);
  if (const auto torch = TorchOf(interpreter)) text += fmt::format("torch {}\n", torch->version);
  if (!interpreter.empty()) {
    bool all = AddModules(folder, modules);
    for (const fs::path& path : named) {
      if (path.extension() == ".py") all = all && AddModules(path.parent_path(), modules);
    }
    if (!all) {
      return Error{fmt::format("more than {} Python files, too many to check for changes", kMostModules), folder,
                   "work in the folder of one project"};
    }
  }
  named.merge(modules);
  for (const fs::path& path : named) text += ByContent(path);
  return text;
}

}  // namespace loopscope
