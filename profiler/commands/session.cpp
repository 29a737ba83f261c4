#include "profiler/commands/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "analyzers/forms/forms.h"
#include "profiler/cli/command.h"
#include "profiler/cli/report_output.h"
#include "profiler/core/printable.h"
#include "profiler/diagnosis/diagnosis.h"
#include "profiler/diagnosis/rank_inputs.h"
#include "profiler/diagnosis/rank_report.h"
#include "profiler/importers/capture/run_files.h"
#include "profiler/importers/importers.h"
#include "profiler/launch/form_trials.h"
#include "profiler/launch/launch_environment.h"
#include "profiler/launch/probe_build.h"
#include "profiler/launch/probe_paths.h"
#include "profiler/system/folder_copy.h"
#include "profiler/system/folders.h"
#include "profiler/system/terminal.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

// If several ranks were recorded, the report covers all of them.
void AddRanks(const fs::path& launch, const fs::path& folder, Report& report) {
  const std::vector<Input> inputs = RankInputs(launch);
  if (inputs.size() < 2) return;
  auto all = ReportOfRanks(inputs);
  if (!all || !*all) return;
  report = std::move(**all);
  for (RankRow& row : report.per_rank) row.input = folder / fs::path(row.input).filename();
}

// An injection variable that another tool has set is not replaced.
void WarnOfOtherTools(Report& report) {
  for (const auto& [variable, what] : {std::pair("NVTX_INJECTION64_PATH", "NVTX ranges are not seen"),
                                       std::pair("CUDA_INJECTION64_PATH", "what a GPU does is not recorded")}) {
    const char* const other = std::getenv(variable);
    if (other == nullptr || *other == '\0') continue;
    report.quality.warnings.push_back(fmt::format("{}: {} is set to {} already", what, variable, other));
  }
}

// Everything that the launch left, except its private files.
Result<void> KeepCaptures(const fs::path& launch, const fs::path& folder) {
  std::error_code error;
  RemoveTree(launch / "files");
  for (const auto& entry : fs::directory_iterator(launch, error)) {
    if (const auto moved = MovePath(entry.path(), folder / entry.path().filename()); !moved) return moved;
  }
  RemoveTree(launch);
  return {};
}

}  // namespace

LaunchSpec DiagnosisSpec(const Options& options, int default_steps) {
  LaunchSpec spec;
  spec.mode = LaunchMode::kTrace;
  spec.warmup = options.warmup.value_or(kDefaultWarmup);
  spec.steps = options.steps.value_or(options.watch ? 0 : default_steps);
  spec.time_s = options.time_s;
  spec.max_capture_bytes = options.max_capture_bytes;
  if (!options.no_seed && options.command != "run") spec.seed = options.seed;
  spec.label = options.command == "run" ? "run" : "diagnosis";
  spec.timeout_s = options.time_s + options.launch_timeout_s.value_or(kLaunchTimeoutS);
  if (options.command == "run") return spec;
  // A hanging program is ended within the time limit of the experiment, or of one launch.
  constexpr double kLeast = 60;  // for a start and some steps, however short the budget
  const double most = options.launch_timeout_s.value_or(std::max(options.budget_s, kLeast));
  spec.time_s = std::min(spec.time_s, most / 3);
  spec.timeout_s = std::min(spec.timeout_s, most);
  return spec;
}

Result<std::vector<Side>> SidesOf(const Options& options) {
  std::error_code error;
  const fs::path folder = options.against_dir.empty() ? fs::path() : fs::canonical(options.against_dir, error);
  if (error || (!folder.empty() && !fs::is_directory(folder, error))) {
    return Error{"no such folder", options.against_dir, "check the path given with --against-dir"};
  }
  std::vector<Side> sides;
  const auto other = [&](const std::vector<std::string>& command) {
    sides.push_back({command, folder, Environment(options.against_env.begin(), options.against_env.end())});
  };
  if (options.command == "ab") other(options.program_a);
  if (options.command != "gate") sides.push_back({options.program});
  for (const Workload& workload : options.gate.workloads) {
    // Gated against recorded counters alone, the candidate takes both sides.
    if (workload.against.empty()) {
      sides.push_back({workload.command});
    } else {
      other(workload.against);
    }
    sides.push_back({workload.command});
  }
  return sides;
}

Session::Session(const Options& options, fs::path output)
    : options_(options), output_(std::move(output)), bar_(options.quiet, options.no_color) {}

Result<std::optional<Containment>> Session::Contain(const std::vector<Side>& sides) const {
  Containment containment = DetectContainment(scratch_->path(), fs::current_path());
  // The weakest containment of all folders holds for all.
  for (const Side& side : sides) {
    if (side.folder.empty() || containment.kind == ContainmentKind::kUncontained) continue;
    Containment other = DetectContainment(scratch_->path(), side.folder);
    if (other.kind > containment.kind) containment = std::move(other);
  }
  // A copy only protects files that are named by relative paths.
  if (containment.kind != ContainmentKind::kOverlay && !options_.allow_writes) return Exposed(containment);
  return std::optional(containment);
}

void Session::LookForEqual(const std::vector<Side>& sides) {
  std::vector<std::vector<std::string>> commands;
  for (const Side& side : sides) commands.push_back(side.Resolved());
  auto kept = KeptExperiment::Of(options_, commands, fs::read_symlink("/proc/self/exe"));
  if (!kept) {
    bar_.Say("nothing is reused: " + kept.error().what);
    return;
  }
  kept_ = std::move(*kept);
  reused_from_ = kept_->Take(output_).value_or("");
  bar_.Say(reused_from_.empty() ? "nothing equal was kept: everything is measured, and kept"
                                : fmt::format("an equal experiment was kept on {}: its launches count", reused_from_));
}

Result<std::unique_ptr<Session>> Session::Open(const Options& options, bool trials) {
  auto probes = FindProbes(ExecutableFolder());
  if (!probes) return probes.error();
  auto sides = SidesOf(options);
  if (!sides) return sides.error();
  if (const auto reach = CheckReach(*sides, trials); !reach) return reach.error();
  auto output = MakeOutputFolder(options.output, options.resume);
  if (!output) return output.error();
  std::unique_ptr<Session> session(new Session(options, std::move(*output)));
  auto scratch = Scratch::Make();
  if (!scratch) return scratch.error();
  session->scratch_.emplace(std::move(*scratch));
  for (const fs::path& left : session->scratch_->left()) {
    session->bar_.Say("loopscope: a run that was killed left its recording in " + left.native() +
                      "\n  `loopscope report` reads the folder inside; delete it when it is of no use");
  }
  if (options.reuse) session->LookForEqual(*sides);
  for (const Side& side : *sides) {
    const ProbeOffer offer = OfferProbe(*probes, side.Resolved(), options.yes, session->signals_);
    session->may_lack_probe_ |= options.yes && offer == ProbeOffer::kUnknown;
  }
  LaunchSetup setup;
  setup.probes = std::move(*probes);
  setup.scratch = session->scratch_->path();
  // Record where the user looks after any death. Not over a network: the program would wait for it.
  if (!trials && !IsOnNetwork(session->output_)) setup.recording = session->output_ / kRecordingName;
  setup.kept = session->output_ / "launches";
  setup.prepare = options.prepare;
  setup.keep = options.keep;
  setup.stdout_to_stderr = options.format != "text";
  if (trials) {
    auto containment = session->Contain(*sides);
    if (!containment) return containment.error();
    setup.containment = std::move(*containment);
    session->bar_.Say(setup.containment->Describe());
    for (const std::string& note : setup.containment->notes) session->bar_.Say("  " + note);
  }
  setup.sides = std::move(*sides);
  session->launcher_ = std::make_unique<ProgramLauncher>(std::move(setup), session->signals_);
  return session;
}

std::vector<MeasuredGain> Session::TriedForms(const Timeline& timeline, const fs::path& folder) {
  std::vector<FormWork> works;
  for (FormTrial& one : FormTrialsOf(timeline)) works.push_back({std::move(one.form), std::move(one.work)});
  return TryForms(works, timeline.trace(), launcher_->setup().probes, folder, signals_);
}

Result<Session::Diagnosed> Session::Diagnose(const LaunchSpec& spec, const fs::path& folder) {
  auto launched = launcher_->Start(spec);
  const bool went_well = launched && launched->end.ok();  // an interrupted or failed program is not started again
  if (went_well && may_lack_probe_ && BuildMissingProbe(launcher_->setup().probes, launched->directory, signals_)) {
    bar_.Say("there is a probe for its torch now: the program is run again");
    RemoveTree(launched->directory);
    launched = launcher_->Start(spec);
  }
  may_lack_probe_ = false;
  if (!launched) return launched.error();
  if (!launched->end.left.empty()) {
    bar_.Say(fmt::format(
        "loopscope: the run was bounded; ended with it what it had left working: {} (--steps 0 lets it go on)",
        Printable(fmt::format("{}", fmt::join(launched->end.left, ", ")), 300)));
  }
  const std::vector<std::string> command = launcher_->setup().sides[static_cast<std::size_t>(spec.side)].Resolved();
  auto trace = ReadAnyTrace(launched->directory);
  const Seen seen = SeenIn(trace, launched->directory);
  Diagnosed diagnosed{{}, *launched, DescribeOutcome(launched->end, command, seen)};
  if (trace) {
    const auto timeline = std::make_shared<Timeline>(Timeline::Build(std::move(*trace)));
    if (launched->end.how != ProcessEnd::How::kInterrupted) {
      timeline->Add(TriedForms(*timeline, launched->directory));
    }
    diagnosed.report = DiagnosisOf(timeline);
    AddRanks(launched->directory, folder, diagnosed.report);
  } else {
    if (auto run = ReadRunJson(launched->directory / kRunJsonName)) diagnosed.report.run = std::move(*run);
    if (diagnosed.failure) diagnosed.report.quality.warnings.push_back(diagnosed.failure->what);
  }
  WarnOfOtherTools(diagnosed.report);
  if (launched->status_after_end != 0) {
    diagnosed.report.quality.warnings.push_back(fmt::format(
        "the process that trains was ended after its last measured step; the command took that for a failure (status "
        "{}), which it was not",
        launched->status_after_end));
  }
  diagnosed.report.output_directory = folder;
  if (const auto kept = KeepCaptures(launched->directory, folder); !kept) {
    scratch_->Keep();
    diagnosed.report.quality.warnings.push_back(kept.error().what + ": " + kept.error().next);
    bar_.Say("loopscope: " + kept.error().Message());
  }
  return diagnosed;
}

Result<Report> Session::Measure(const Procedure& procedure) {
  Report report;
  report.run = RunInfoOf(options_.program, OwnEnvironment());
  report.output_directory = output_;
  const auto done = procedure(Launches(), Events(), report);
  bar_.Clear();
  if (!done) return done.error();
  if (const auto written = Write(report); !written) return written.error();
  return report;
}

Result<void> Session::Write(Report& report) {
  if (!reused_from_.empty()) {
    report.quality.warnings.push_back(fmt::format(
        "launches of an equal experiment of {} count here (--reuse); without it all are made anew", reused_from_));
  }
  if (kept_) {
    if (const auto kept = kept_->Keep(output_); !kept) bar_.Say("the experiment is not kept: " + kept.error().what);
  }
  return WriteReport(report, options_, output_);
}

Launcher Session::Launches(std::function<void(LaunchSpec&)> adapt) {
  const auto one = [this, adapt](LaunchSpec spec) {
    if (adapt) adapt(spec);
    return launcher_->Launch(spec);
  };
  if (options_.no_turns || !launcher_->CanTakeTurns()) return one;
  const auto side_by_side = [this, adapt](std::span<const LaunchSpec> specs) {
    std::vector<LaunchSpec> adapted(specs.begin(), specs.end());
    if (adapt) std::ranges::for_each(adapted, adapt);
    return launcher_->LaunchTogether(adapted);
  };
  return {one, side_by_side};
}

ExperimentEvents Session::Events() {
  ExperimentEvents events;
  events.plan = [this](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) bar_.Say(line);
  };
  events.progress = [this](const Progress& progress) { bar_.Show(progress); };
  events.stop = [this] { return signals_.interrupted(); };
  return events;
}

ExperimentOptions Session::Experiment(int warmup) const {
  ExperimentOptions experiment;
  experiment.blocks = options_.blocks.value_or(experiment.blocks);
  experiment.until_decided = !options_.blocks;
  experiment.budget_s = options_.budget_s;
  experiment.margin = options_.margin;
  experiment.seed = options_.seed;
  experiment.seed_programs = !options_.no_seed;
  experiment.warmup = options_.warmup.value_or(warmup);
  experiment.auto_warmup = !options_.warmup;
  experiment.steps = options_.steps.value_or(0);
  experiment.min_window_s = options_.min_window_s;
  experiment.alone = options_.alone;
  experiment.launch_timeout_s = options_.launch_timeout_s.value_or(kLaunchTimeoutS);
  experiment.bound_launches = !options_.launch_timeout_s;
  experiment.resume = resumes();
  experiment.turns = !options_.no_turns;
  return experiment;
}

}  // namespace loopscope
