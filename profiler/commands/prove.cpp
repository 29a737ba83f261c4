#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "profiler/cli/command.h"
#include "profiler/cli/experiment_options.h"
#include "profiler/commands/session.h"
#include "profiler/core/host.h"
#include "profiler/diagnosis/diagnosis.h"
#include "profiler/diagnosis/report_from.h"
#include "profiler/experiments/prove/experiment.h"
#include "profiler/experiments/target/procedure.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr int kDiagnosisSteps = 50;
constexpr int kTargetWarmup = 1;

// Recording a GPU's work can double a step of short kernels, and no planned launch records it.
double UnrecordedStepMs(const Report& report) {
  const double recorded = report.gpu ? std::clamp(report.quality.probe_cost_pct / 100, 0.0, 0.9) : 0;
  return report.steps.mean_ms.value_or(0) * (1 - recorded);
}

// The diagnosis that an interrupted experiment left, if it ended in order; otherwise its files are removed.
std::optional<Report> FinishedDiagnosis(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return std::nullopt;
  if (auto report = ReportFrom(folder); report && report->quality.clean_end && report->timeline) return *report;
  fs::remove_all(folder, error);
  return std::nullopt;
}

Result<Report> Diagnosis(Session& session, const Options& options) {
  const fs::path folder = session.output() / "diagnosis";
  if (session.resumes()) {
    if (auto finished = FinishedDiagnosis(folder)) return std::move(*finished);
  }
  session.bar().Say("diagnosis: one launch under full tracing");
  LaunchSpec spec = DiagnosisSpec(options, kDiagnosisSteps);
  spec.steps = std::max(spec.steps, kDiagnosisSteps);
  auto diagnosed = session.Diagnose(spec, folder);
  if (!diagnosed) return diagnosed.error();
  if (diagnosed->failure) return *diagnosed->failure;
  return std::move(diagnosed->report);
}

// An experiment interrupted before its first launch has only a diagnosis, or less.
Result<bool> Resumes(const Session& session, const fs::path& journal) {
  std::error_code error;
  if (!session.resumes() || fs::exists(journal, error)) return session.resumes();
  if (fs::is_directory(journal.parent_path() / "diagnosis", error)) return false;
  return Error{"holds no experiment to resume", journal.parent_path(), "pass the interrupted run's folder with -o"};
}

Result<int> Finish(Report& report, Session& session, int code) {
  session.bar().Clear();
  const auto written = session.Write(report);
  if (!written) return written.error();
  return code;
}

// `prove --target`. Returns the exit code, like any command.
Result<int> ProveToTarget(const Options& options, std::vector<Candidate> candidates) {
  auto opened = Session::Open(options, true);
  if (!opened) return opened.error();
  Session& session = **opened;
  ToTargetInput input;
  input.command = options.program;
  input.candidates = std::move(candidates);
  input.options = session.Experiment(kTargetWarmup);
  input.watch = {options.target.target, options.target.regex};
  input.limit_s = options.time_s;
  input.journal = session.output() / "journal.jsonl";
  const auto report = session.Measure([&input](const Launcher& launcher, const ExperimentEvents& events, Report& out) {
    return RunToTarget(input, launcher, events, out);
  });
  if (!report) return report.error();
  return session.signals().interrupted() ? kExitInconclusive : 0;
}

Result<int> ProveCommand(const Options& options) {
  // Rejects a key that is not a treatment before anything is launched.
  auto named = CandidatesOf({}, ThisHost(), options.selection);
  if (!named) return named.error();
  if (!options.target.text.empty()) return ProveToTarget(options, std::move(*named));
  for (const Candidate& one : *named) {
    if (one.treatment->metric != Metric::kTimeToTarget) continue;
    return Error{"changes the training, and is judged by the time to a target", "--only " + one.Setting(),
                 "name a target: --target accuracy=0.9"};
  }
  auto opened = Session::Open(options, true);
  if (!opened) return opened.error();
  Session& session = **opened;
  const fs::path journal = session.output() / "journal.jsonl";
  const Result<bool> resumes = Resumes(session, journal);
  if (!resumes) return resumes.error();
  const auto begun = std::chrono::steady_clock::now();
  auto report = Diagnosis(session, options);
  const std::chrono::duration<double> diagnosed = std::chrono::steady_clock::now() - begun;
  if (!report) return report.error();
  report->output_directory = session.output();

  auto candidates = CandidatesOf(report->findings, ThisHost(), options.selection, report->timeline->trace());
  if (!candidates) return candidates.error();
  if (candidates->empty()) {
    session.bar().Say("nothing to try: no rule that fired has a treatment here");
    return Finish(*report, session, 0);
  }
  ExperimentInput input;
  input.command = options.program;
  input.candidates = std::move(*candidates);
  input.options = session.Experiment(WarmupOf(*report->timeline, kDefaultWarmup));
  input.options.live = true;
  input.clock = report->timeline->clock();
  input.diagnosis_s = diagnosed.count();
  input.startup_s = report->whole ? report->whole->start_up_ms / 1e3 : 0;
  input.step_ms = UnrecordedStepMs(*report);
  input.steps_per_epoch = static_cast<int>(report->timeline->steps_per_epoch());
  input.loader = LoaderDepthOf(report->timeline->trace());
  input.options.resume = *resumes;
  input.journal = journal;
  const auto experiment = options.quick ? RunQuick : RunExperiment;
  const auto done = experiment(input, session.Launches(), session.Events(), *report);
  const bool interrupted = session.signals().interrupted();
  if (!done) {
    const auto finished = Finish(*report, session, 0);
    return finished ? Result<int>(done.error()) : finished;
  }
  if (interrupted) {
    session.bar().Say(
        fmt::format("interrupted: go on with `loopscope prove --resume -o {} …`", session.output().native()));
  }
  return Finish(*report, session, interrupted ? kExitInconclusive : 0);
}

}  // namespace

extern const Command kProveCommand{
    .id = "prove",
    .summary = "Rerun the program with each fix: each fix's measured speedup and its interval.",
    .usage = "prove [options] -- CMD…",
    .example = "loopscope prove --budget 10m -- ./train --epochs 3",
    .takes = kTakesFormats | kTakesLaunching | kTakesDiagnosing | kTakesExperiment | kTakesBlocks | kTakesProgram,
    .blocks_text = kBlocksText,
    .add = [](CLI::App& app, Options& options) { AddProve(app, options), AddTarget(app, options); },
    .check = [](const Command&, Options& options) { return CheckTarget(options); },
    .writes =
        [](const Options& options) {
          return std::optional(options.target.text.empty() ? ReportKind::kTrials : ReportKind::kTarget);
        },
    .run = ProveCommand};

}  // namespace loopscope
