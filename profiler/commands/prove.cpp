#include <fmt/format.h>

#include <algorithm>

#include "profiler/commands/command_table.h"
#include "profiler/commands/diagnosis.h"
#include "profiler/commands/experiment.h"
#include "profiler/commands/report_output.h"
#include "profiler/commands/session.h"
#include "profiler/core/host.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr int kDiagnosisSteps = 50, kLeastWarmup = 10, kInterrupted = 3;

int Number(const std::map<std::string, std::string>& facts, const char* key, int otherwise) {
  const auto found = facts.find(key);
  return found == facts.end() ? otherwise : std::atoi(found->second.c_str());
}

// Batches that the loader prepares ahead of the training thread.
int RunAhead(const Report& report) {
  const auto& facts = report.timeline->trace().facts;
  return Number(facts, "loader.workers", 0) * std::max(1, Number(facts, "loader.prefetch", 2));
}

// The diagnosis: what an interrupted experiment left of it, else a launch.
Result<Report> Diagnosis(Session& session, const Options& options) {
  const fs::path folder = session.output() / "diagnosis";
  std::error_code error;
  if (options.resume && fs::exists(folder, error)) return ReportFrom(folder);
  session.bar().Say("diagnosis: one launch under full tracing");
  LaunchSpec spec = DiagnosisSpec(options, kDiagnosisSteps);
  spec.steps = std::max(spec.steps, kDiagnosisSteps);
  auto diagnosed = session.Diagnose(spec, folder);
  if (!diagnosed) return diagnosed.error();
  if (diagnosed->failure) return *diagnosed->failure;
  return std::move(diagnosed->report);
}

Result<int> Finish(const Report& report, const Options& options, Session& session, int code) {
  session.bar().Clear();
  const auto written = WriteReport(report, options, session.output());
  if (!written) return written.error();
  return code;
}

}  // namespace

Result<int> ProveCommand(const Options& options) {
  // A key that is no treatment is said before anything is launched.
  if (const auto named = CandidatesOf({}, ThisHost(), options.selection); !named) return named.error();
  auto opened = Session::Open(options, true);
  if (!opened) return opened.error();
  Session& session = **opened;
  auto report = Diagnosis(session, options);
  if (!report) return report.error();
  report->output_directory = session.output();

  auto candidates = CandidatesOf(report->findings, ThisHost(), options.selection);
  if (!candidates) return candidates.error();
  if (candidates->empty()) {
    session.bar().Say("nothing to try: no rule that fired has a treatment here");
    return Finish(*report, options, session, 0);
  }
  ExperimentInput input;
  input.command = options.program;
  input.candidates = std::move(*candidates);
  input.options = session.Experiment(SettledAfter(*report->timeline, kLeastWarmup));
  input.clock = report->timeline->clock();
  input.steps_per_epoch = static_cast<int>(report->timeline->steps_per_epoch());
  input.run_ahead = RunAhead(*report);
  input.journal = session.output() / "journal.jsonl";
  const auto launch = [&session](const LaunchSpec& spec) { return session.launcher().Launch(spec); };
  const auto done = RunExperiment(input, launch, session.Events(), *report);
  const bool interrupted = session.signals().interrupted();
  if (!done) {
    const auto finished = Finish(*report, options, session, 0);
    return finished ? Result<int>(done.error()) : finished;
  }
  if (interrupted) {
    session.bar().Say(
        fmt::format("interrupted: go on with `loopscope prove --resume -o {} …`", session.output().native()));
  }
  return Finish(*report, options, session, interrupted ? kInterrupted : 0);
}

}  // namespace loopscope
