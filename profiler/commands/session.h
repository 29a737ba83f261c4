// What `run`, `prove`, `ab` and `gate` share: folders, probes and the launcher, set up before anything is started.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "profiler/cli/options.h"
#include "profiler/commands/kept_experiments.h"
#include "profiler/commands/progress_bar.h"
#include "profiler/containment/containment.h"
#include "profiler/containment/output_folder.h"
#include "profiler/core/report/report.h"
#include "profiler/core/result.h"
#include "profiler/experiments/options.h"
#include "profiler/launch/launcher.h"
#include "profiler/launch/outcome.h"

namespace loopscope {

class Session {
 public:
  // `trials`: launches are thrown away, so they are contained. Errors (exit 2): no probes, an output folder that cannot
  // be written to, or real files that launches could change, listed, without --allow-writes.
  static Result<std::unique_ptr<Session>> Open(const Options& options, bool trials);

  const std::filesystem::path& output() const { return output_; }
  // Where launches write their captures.
  std::vector<std::filesystem::path> recording_folders() const { return {output_ / kRecordingName, scratch_->path()}; }
  ProgramLauncher& launcher() { return *launcher_; }
  ProgressBar& bar() { return bar_; }
  Signals& signals() { return signals_; }

  // Whether finished launches are in output() already: --resume, or --reuse that found an equal experiment.
  bool resumes() const { return options_.resume || !reused_from_.empty(); }

  struct Diagnosed {
    Report report;  // available even if the program failed
    Launched launched;
    std::optional<Error> failure;
  };
  // Runs the program once under full tracing and puts what it recorded into `folder`. Error (exit 2): nothing could be
  // launched or kept.
  Result<Diagnosed> Diagnose(const LaunchSpec& spec, const std::filesystem::path& folder);

  // An experiment's procedure: launches the program and writes its rows into the report.
  using Procedure =
      std::function<Result<void>(const Launcher& launcher, const ExperimentEvents& events, Report& report)>;
  // Runs `procedure` on a report of the program as it is started, and writes that report. Errors: those of `procedure`,
  // a report that cannot be written (exit 2).
  Result<Report> Measure(const Procedure& procedure);

  // Completes a report, then writes its files. With --reuse the experiment is kept; a failure to keep
  // it is only reported. Error (exit 2): a file cannot be written.
  Result<void> Write(Report& report);

  // Side by side where possible, unless --no-turns. `adapt`, when given, changes each launch first.
  Launcher Launches(std::function<void(LaunchSpec&)> adapt = nullptr);
  ExperimentEvents Events();
  ExperimentOptions Experiment(int warmup) const;

 private:
  Session(const Options& options, std::filesystem::path output);
  void LookForEqual(const std::vector<Side>& sides);
  // Other forms of the program's operators, tried once it has ended.
  std::vector<MeasuredGain> TriedForms(const Timeline& timeline, const std::filesystem::path& folder);
  Result<std::optional<Containment>> Contain(const std::vector<Side>& sides) const;

  const Options& options_;
  std::filesystem::path output_;
  Signals signals_;  // must come before members that a signal must not leave behind
  std::optional<Scratch> scratch_;
  ProgressBar bar_;
  std::optional<KeptExperiment> kept_;  // with --reuse
  std::string reused_from_;             // when it was kept
  bool may_lack_probe_ = false;         // with --yes, for a command whose torch is unknown
  std::unique_ptr<ProgramLauncher> launcher_;
};

// The commands that are launched, by LaunchSpec::side: for `ab` A and B; for `gate` those of its first workload
// (reference, then candidate), then its second; else the one. Error (exit 2): --against-dir is not a folder.
Result<std::vector<Side>> SidesOf(const Options& options);

LaunchSpec DiagnosisSpec(const Options& options, int default_steps);

// Checks before anything is launched: whether the probes reach the program, and whether it can be rerun.

// Launches could change real files, which are listed (exit 2).
Error Exposed(const Containment& containment);

// A run goes on unobserved, with a message. Errors of `trials`: the program cannot be observed (exit 3), or not be
// started again (exit 2).
Result<void> CheckReach(const std::vector<Side>& sides, bool trials);

}  // namespace loopscope
