// An Nsight Systems export (nsys export --type sqlite).
#include "profiler/importers/nsys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include "profiler/core/importer.h"
#include "profiler/importers/nsys/processes.h"
#include "profiler/importers/nsys/run.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSqliteHead{"SQLite format 3\0", 16};
constexpr std::size_t kMinSteps = 3;

bool SniffNsys(std::string_view head) {
  return head.starts_with(kSqliteHead);
}

// The ranges that mark training steps: of the surest kind, the most numerous with one name on one thread; those inside
// another of that name are left out.
std::vector<NsysStep> StepsOf(const NsysProcess& process) {
  std::map<std::pair<std::uint32_t, StringId>, std::vector<NsysStep>> groups;
  for (const NsysStep& step : process.steps) groups[{step.thread, step.stem}].push_back(step);
  std::vector<NsysStep> best;
  for (auto& [key, steps] : groups) {
    std::ranges::stable_sort(steps, {}, &NsysStep::start_ns);
    std::vector<NsysStep> outer;
    for (const NsysStep& step : steps) {
      if (outer.empty() || step.start_ns >= outer.back().end_ns) outer.push_back(step);
    }
    if (outer.size() < kMinSteps) continue;
    const auto score = [](const std::vector<NsysStep>& of) { return std::pair(of.front().likeness, of.size()); };
    if (best.empty() || score(outer) > score(best)) best = std::move(outer);
  }
  return best;
}

// What sets a training process apart from a launcher or a helper, strongest sign first.
std::array<std::uint64_t, 4> Likeness(const NsysProcess& process) {
  return {StepsOf(process).size(), process.backward, process.kernels, process.emitted_ops};
}

// By pid: processes that did at least half of what the busiest did, by the strongest sign that any process has.
std::vector<NsysProcess*> TrainingProcesses(NsysTables& tables) {
  std::vector<std::pair<std::array<std::uint64_t, 4>, NsysProcess*>> all;
  for (auto& [key, process] : tables.processes) all.emplace_back(Likeness(process), &process);
  std::vector<NsysProcess*> training;
  for (std::size_t sign = 0; sign < 4 && training.empty(); ++sign) {
    std::uint64_t most = 0;
    for (const auto& [likeness, process] : all) most = std::max(most, likeness[sign]);
    for (const auto& [likeness, process] : all) {
      if (most > 0 && likeness[sign] * 2 >= most) training.push_back(process);
    }
  }
  if (training.empty() && !all.empty()) training.push_back(all.front().second);
  std::ranges::stable_sort(training, {}, &NsysProcess::pid);
  return training;
}

void AddSteps(const std::vector<NsysStep>& steps, Trace& trace) {
  if (steps.empty()) return;
  const auto name = static_cast<StringId>(trace.strings.size());
  trace.strings.push_back("nvtx:" + trace.strings[steps.front().stem]);
  for (const NsysStep& step : steps) {
    trace.marks.push_back({step.end_ns, MarkKind::kStepEnd, name, 0, step.thread});
  }
}

int Variable(const RunInfo& run, const char* name) {
  const auto found = run.environment.find(name);
  int value = -1;
  if (found != run.environment.end()) {
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  }
  return value;
}

// Without a rank in the environment: the position among the processes of this file that trained.
void SetRank(const std::vector<NsysProcess*>& training, const NsysProcess* shown, Trace& trace) {
  RunInfo& run = trace.run;
  const int ranks = static_cast<int>(training.size());
  run.ranks = std::max({ranks, Variable(run, "WORLD_SIZE"), 1});
  run.rank = static_cast<int>(std::ranges::find(training, shown) - training.begin());
  if (ranks == 1) run.rank = std::max(Variable(run, "RANK"), 0);
  if (ranks > 1) {
    std::string pids;
    for (const NsysProcess* one : training) pids += (pids.empty() ? "" : ",") + std::to_string(one->pid);
    trace.facts["trace.processes"] = pids;
    trace.quality.warnings.emplace_back(
        WarningKind::kOtherProcesses,
        std::to_string(ranks) + " processes of this export trained; pid " + std::to_string(shown->pid) + " is shown");
  }
}

bool IsExport(const NsysDatabase& database) {
  return database.HasTable("StringIds") || database.HasTable("META_DATA_EXPORT") ||
         database.HasTable("CUPTI_ACTIVITY_KIND_KERNEL");
}

Result<NsysTables> ReadTables(NsysDatabase& database, const fs::path& path, std::uint32_t only_pid) {
  if (!IsExport(database)) {
    return Error{"is an SQLite database, but no export of Nsight Systems", path.string(),
                 "make one with: nsys export --type sqlite REPORT.nsys-rep"};
  }
  NsysTables tables = NsysTableReader(database, only_pid).Read();
  if (!tables.processes.empty()) return tables;
  if (!database.damage().empty()) {
    return Error{"is damaged: " + database.damage().front(), path.string(),
                 "export it again: nsys export --type sqlite REPORT.nsys-rep"};
  }
  return Error{"holds no event of a program", path.string(),
               "record with: nsys profile --trace=cuda,nvtx,osrt COMMAND"};
}

Result<Trace> ReadNsys(const Input& input) {
  Result<NsysDatabase> database = NsysDatabase::Open(input.path);
  if (!database) return database.error();
  Result<NsysTables> tables = ReadTables(*database, input.path, input.process);
  if (!tables) return tables.error();
  const std::vector<NsysProcess*> training = TrainingProcesses(*tables);
  NsysProcess& shown = *training.front();
  const std::vector<NsysStep> steps = StepsOf(shown);
  Trace trace;
  trace.run = NsysRunInfo(*database);
  SetRank(training, &shown, trace);
  trace.strings = std::move(tables->strings);
  trace.details = std::move(tables->details);
  trace.collectives = std::move(tables->collectives);
  trace.threads = std::move(shown.threads);
  for (auto& [ordinal, device] : shown.devices) trace.devices.push_back(std::move(device));
  NameNsysDevices(*database, shown.pid, trace.devices);
  AddSteps(steps, trace);
  JudgeNsysQuality(*database, *tables, !steps.empty() || shown.backward > 0, trace);
  return trace;
}

}  // namespace

std::optional<Error> NsysReportFile(const fs::path& path) {
  const fs::path extension = path.extension();
  if (extension != ".nsys-rep" && extension != ".qdrep" && extension != ".qdstrm") return std::nullopt;
  return Error{"is a report of Nsight Systems, which only Nsight Systems can read", path.string(),
               extension == ".qdstrm"
                   ? "import it, then export it: QdstrmImporter -i FILE.qdstrm, then nsys export "
                     "--type sqlite FILE.nsys-rep"
                   : "export it and pass the result: nsys export --type sqlite " + path.filename().string()};
}

extern const Importer kNsys{"nsys", SniffNsys, ReadNsys, "an SQLite export of Nsight Systems (.sqlite)"};

}  // namespace loopscope
