#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "profiler/cli/command.h"
#include "profiler/cli/experiment_options.h"
#include "profiler/cli/gate_options.h"
#include "profiler/cli/report_output.h"
#include "profiler/commands/gate_counters.h"
#include "profiler/commands/session.h"
#include "profiler/core/write_file.h"
#include "profiler/experiments/gate/history_file.h"
#include "profiler/experiments/gate/procedure.h"
#include "profiler/launch/launch_environment.h"
#include "profiler/system/terminal.h"
#include "reports/words/experiment_wording.h"

namespace loopscope {
namespace {

constexpr double kTraceSeconds = 30;  // at least three launches under tracing

// A counter's failure in one sentence.
std::string FailureText(const GateRow& row) {
  const CounterRow& first = row.counters.front();  // those that fail come first
  std::string text = CounterText(first);
  if (!first.places.empty()) text += ", at " + CounterPlaceText(first.places.front());
  const auto failing = std::ranges::count(row.counters, true, &CounterRow::fails);
  return failing > 1 ? text + fmt::format("; and {} more", failing - 1) : text;
}

// Finished launches are recognised by their labels, so each workload has a list of its own.
std::filesystem::path JournalOf(const Session& session, std::size_t workload) {
  const std::string name = workload == 0 ? "journal.jsonl" : fmt::format("journal-{}.jsonl", workload + 1);
  return session.output() / name;
}

class GateRun {
 public:
  // `recorded` may be null.
  GateRun(Session& session, const Options& options, const CounterFile* recorded)
      : session_(session), options_(options), recorded_(recorded) {}

  Report Run() {
    Report report;
    report.run = RunInfoOf(options_.gate.workloads.front().command, OwnEnvironment());
    GateFacts facts;
    facts.max_slowdown = options_.gate.max_slowdown;
    for (std::size_t w = 0; w < options_.gate.workloads.size(); ++w) {
      facts.workloads.push_back(session_.signals().interrupted() ? Interrupted(w) : Judge(w, report));
    }
    report.output_directory = session_.output();
    report.gate = std::move(facts);
    return report;
  }

  // The exit code if something could not be judged; else 0.
  int error_code() const { return error_code_; }

 private:
  GateRow RowOf(const Workload& workload) const {
    GateRow row;
    row.command = Shown(workload.command);
    row.against = AgainstText(workload);
    return row;
  }

  GateRow Interrupted(std::size_t w) const {
    GateRow row = RowOf(options_.gate.workloads[w]);
    row.reason = "interrupted before it was judged";
    row.why_no_time = row.why_no_counters = "interrupted";
    return row;
  }

  GateRow Judge(std::size_t w, Report& report) {
    const Workload& workload = options_.gate.workloads[w];
    GateRow row = RowOf(workload);
    if (options_.gate.workloads.size() > 1) session_.bar().Say(fmt::format("workload {}: {}", w + 1, row.command));
    CounterGate counters(session_, options_, recorded_);
    const auto counted = JudgeCounters(w, counters, row, report);
    if (!counted) {
      Fault(counted.error(), row);
    } else if (std::ranges::any_of(row.counters, &CounterRow::fails)) {
      row.verdict = GateVerdict::kFail;
      row.reason = FailureText(row);
      row.why_no_time = "the counters have failed already";
    } else if (workload.against.empty()) {
      row.why_no_time = "there is nothing to time it against (--against)";
      Settle(row, "no counter changed that may not");
    } else {
      JudgeTime(w, row, report);
      if (row.verdict == GateVerdict::kPass) Settle(row, row.reason);
      if (row.verdict == GateVerdict::kFail) row.grown = counters.Grown();
    }
    return row;
  }

  // The candidate's diagnosis of the first workload is the report's.
  Result<void> JudgeCounters(std::size_t w, CounterGate& counters, GateRow& row, Report& report) {
    const auto begin = std::chrono::steady_clock::now();
    auto judged = counters.Judge(w, row);
    spent_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (w == 0 && counters.diagnosis()) report = *counters.diagnosis();
    return judged;
  }

  // A pass, unless requested counters could not be compared.
  void Settle(GateRow& row, const std::string& reason) const {
    const bool needed = recorded_ != nullptr || options_.gate.strict_counters;
    const bool passes = row.why_no_counters.empty() || !needed;
    row.verdict = passes ? GateVerdict::kPass : GateVerdict::kInconclusive;
    row.reason = passes ? reason : "the counters could not be compared: " + row.why_no_counters;
  }

  std::string AgainstText(const Workload& workload) const {
    if (workload.against.empty()) return options_.gate.baseline.native();
    std::string text = Shown(workload.against);
    for (const auto& [name, value] : options_.against_env) text = name + "=" + value + " " + text;
    return options_.against_dir.empty() ? text : text + " (in " + options_.against_dir.native() + ")";
  }

  void JudgeTime(std::size_t w, GateRow& row, Report& report) {
    PairsInput input;
    input.command_a = options_.gate.workloads[w].against;
    input.command_b = options_.gate.workloads[w].command;
    input.options = session_.Experiment(kDefaultWarmup);
    input.options.budget_s = BudgetLeft(w);
    input.journal = JournalOf(session_, w);
    GateLimits limits = LimitsFor(static_cast<int>(options_.gate.workloads.size()), options_.gate.max_slowdown);
    limits.most_pairs = options_.gate.pairs.value_or(limits.most_pairs);
    const Launcher launch = session_.Launches([w](LaunchSpec& spec) { spec.side += static_cast<int>(2 * w); });
    Report one;
    const auto start = std::chrono::steady_clock::now();
    auto gated = RunGate(input, limits, launch, session_.Events(), one);
    spent_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.plan.insert(report.plan.end(), one.plan.begin(), one.plan.end());
    report.quality.warnings.insert(report.quality.warnings.end(), one.quality.warnings.begin(),
                                   one.quality.warnings.end());
    if (!gated) return Fault(gated.error(), row);
    if (w == 0) report.noise = one.noise;
    row.verdict = gated->decision.verdict;
    row.reason = gated->decision.reason;
    row.launches = std::move(gated->launches);
    row.time = std::move(gated->decision);
  }

  // Split evenly among the remaining workloads.
  double BudgetLeft(std::size_t w) const {
    const auto left = static_cast<double>(options_.gate.workloads.size() - w);
    return std::max(0.0, options_.budget_s - spent_s_) / left;
  }

  void Fault(const Error& error, GateRow& row) {
    row.verdict = GateVerdict::kInconclusive;
    row.error = error.Message();
    row.reason = error.what;
    row.why_no_time = error.what;
    error_code_ = std::max(error_code_, error.exit_code);
  }

  Session& session_;
  const Options& options_;
  const CounterFile* recorded_;
  double spent_s_ = 0;
  int error_code_ = 0;
};

// Writes new counters to --baseline FILE.
Result<int> Accept(Session& session, const Options& options) {
  CounterFile file;
  CounterGate counters(session, options, nullptr);
  std::size_t counts = 0;
  for (std::size_t w = 0; w < options.gate.workloads.size(); ++w) {
    auto recorded = counters.Record(w);
    if (!recorded) return recorded.error();
    if (session.signals().interrupted()) return kExitInconclusive;
    counts += recorded->counts.size() - recorded->unstable.size();
    file.workloads.emplace_back(Shown(options.gate.workloads[w].command), std::move(*recorded));
  }
  file.machine = FingerprintOf(counters.diagnosis()->run);
  session.bar().Clear();
  const auto written = WriteOutputFile(options.gate.baseline, CounterFileText(file));
  if (!written) return written.error();
  Write(stdout,
        fmt::format("recorded {} counters of {} in {}\n", counts,
                    file.workloads.size() == 1 ? "one workload" : fmt::format("{} workloads", file.workloads.size()),
                    options.gate.baseline.native()));
  return 0;
}

int ExitCode(GateVerdict verdict, int error_code, Undecided undecided) {
  if (verdict == GateVerdict::kFail) return kExitFailed;
  if (error_code != 0) return error_code;
  if (verdict == GateVerdict::kPass || undecided == Undecided::kPass) return 0;
  return undecided == Undecided::kFail ? kExitFailed : kExitInconclusive;
}

Result<int> GateCommand(const Options& options) {
  std::optional<CounterFile> recorded;
  if (!options.gate.baseline.empty() && !options.gate.accept) {
    auto read = ReadCounterFile(options.gate.baseline);
    if (!read) return read.error();
    recorded = std::move(*read);
  }
  if (!options.gate.record.empty()) {
    if (const auto usable = AppendHistory(options.gate.record, {}); !usable) return usable.error();
  }
  auto opened = Session::Open(options, true);
  if (!opened) return opened.error();
  Session& session = **opened;
  if (options.gate.accept) return Accept(session, options);
  GateRun gate(session, options, recorded ? &*recorded : nullptr);
  const Report report = gate.Run();
  session.bar().Clear();
  const auto written = WriteReport(report, options, session.output());
  if (!written) return written.error();
  if (!options.gate.record.empty()) {
    const auto appended = AppendHistory(options.gate.record, HistoryOf(*report.gate, report.run));
    if (!appended) return appended.error();
  }
  for (const GateRow& row : report.gate->workloads) {
    if (!row.error.empty()) Say("loopscope: " + row.error);
  }
  if (session.signals().interrupted()) return kExitInconclusive;
  return ExitCode(DecidingRow(*report.gate).verdict, gate.error_code(), options.gate.undecided);
}

}  // namespace

extern const Command kGateCommand{
    .id = "gate",
    .summary = "Fail on a real slowdown, and on nothing else: for CI.",
    .usage = "gate [options] --against 'CMD_A' -- CMD_B…",
    .example = "loopscope gate --against-dir ../base -- ./train",
    .takes = kTakesFormats | kTakesLaunching | kTakesDiagnosing | kTakesExperiment | kMayTakeProgram,
    .set_defaults = [](Options& options) { options.time_s = kTraceSeconds; },
    .add = [](CLI::App& app, Options& options) { AddGate(app, options), AddFailOn(app, options); },
    .check = [](const Command&, Options& options) { return FindWorkloads(options); },
    .writes = [](const Options&) { return std::optional(ReportKind::kGate); },
    .run = GateCommand};

}  // namespace loopscope
