#include "profiler/commands/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "profiler/commands/experiment_blocks.h"
#include "profiler/commands/experiment_launches.h"
#include "profiler/commands/experiment_pilots.h"
#include "profiler/commands/recommend.h"
#include "profiler/commands/same_training_launches.h"
#include "profiler/commands/verdicts.h"

namespace loopscope {
namespace {

// Everything that must be the same for an interrupted plan to go on.
std::string OptionsText(const ExperimentOptions& o, const std::string& clock) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", o.blocks, o.budget_s, o.margin, o.seed, o.seed_programs,
                     o.warmup, o.steps, o.min_steps, o.min_window_s, o.alone, o.check_training, o.check_steps, clock);
}

Result<std::unique_ptr<Journal>> OpenJournal(const std::filesystem::path& path, const std::string& identity,
                                             const ExperimentOptions& options) {
  if (path.empty()) return std::unique_ptr<Journal>();
  return Journal::Open(path, HashOf(identity), options.resume);
}

std::string Identity(const ExperimentInput& input) {
  std::string text = fmt::format("prove|{}|{}|{}", fmt::join(input.command, "\x1f"),
                                 OptionsText(input.options, input.clock), input.run_ahead);
  for (const Candidate& candidate : input.candidates) {
    text += fmt::format("|{}={}", candidate.treatment->id, fmt::join(candidate.values, ","));
  }
  return text;
}

class Experiment {
 public:
  Experiment(const ExperimentInput& input, LaunchSeries& series, Report& report)
      : input_(input), series_(series), report_(report), candidates_(input.candidates), states_(candidates_.size()) {}

  Result<void> Run() {
    ShowIntention();
    Result<Pilots> pilots = RunPilots(input_, candidates_, states_, series_);
    if (!pilots) return pilots.error();
    if (input_.options.check_training) CheckTraining(input_, candidates_, states_, *pilots, series_);
    if (series_.stopped()) return Interrupted();
    SetAside();
    if (candidates_.empty()) return {};
    Result<void> planned = MakePlan(*pilots);
    if (!planned) return planned;
    RunAndJudge();
    return {};
  }

 private:
  void ShowIntention() {
    std::vector<std::string> settings;
    for (const Candidate& candidate : candidates_) settings.push_back(candidate.Setting());
    // Baseline, ALL, one without each, three alone.
    const int arms = static_cast<int>(candidates_.size()) + 5;
    series_.ShowPlan(
        {fmt::format("to try: {}", fmt::join(settings, ", ")),
         fmt::format("first one launch per way of running it (about {}), and untimed launches that compare "
                     "losses; then blocks of timed launches, {:.0f} s in all at most",
                     arms, input_.options.budget_s)});
    series_.Expect(arms, -1);
  }

  // Rows for those that are out; the living go on.
  void SetAside() {
    std::vector<Candidate> living;
    std::vector<CandidateState> living_states;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (states_[i].alive()) {
        living.push_back(candidates_[i]);
        living_states.push_back(states_[i]);
        continue;
      }
      aside_.push_back(RowWithoutBlocks(candidates_[i], states_[i]));
      all_changed_ = all_changed_ || (states_[i].verdict == "different-training" && states_[i].in_all);
    }
    candidates_ = std::move(living);
    states_ = std::move(living_states);
    if (candidates_.empty()) report_.trials = aside_;
  }

  Result<void> MakePlan(const Pilots& pilots) {
    std::vector<bool> in_all;
    for (const CandidateState& state : states_) in_all.push_back(state.in_all);
    plan_ = PlanArms(candidates_, in_all, input_.options.alone);
    series_.Expect(static_cast<int>(plan_.arms.size()) - 2, -1);
    Result<void> piloted = RunArmPilots(input_, candidates_, pilots, all_changed_, plan_, series_);
    if (!piloted) return piloted;
    ShapePlan(plan_, input_.options, input_.options.budget_s - series_.spent_s());
    report_.plan = plan_.Describe(candidates_, series_.spent_s());
    series_.ShowPlan(report_.plan);
    return {};
  }

  void RunAndJudge() {
    // What the fresh blocks will take is kept back.
    const BlockRun run{.blocks = plan_.blocks,
                       .seed = input_.options.seed,
                       .end_s = input_.options.budget_s - plan_.fresh_blocks * plan_.fresh_block_s};
    const Observations observed = RunBlocks(input_, run, candidates_, plan_, series_);
    report_.trials = JudgeTrials(plan_, observed, candidates_, states_, input_.options.margin);
    report_.noise = NoiseOf(plan_, observed);
    if (!series_.stopped()) {
      report_.combined = MeasureRecommended(input_, plan_, report_.trials, candidates_, states_, series_);
    }
    report_.trials.insert(report_.trials.end(), aside_.begin(), aside_.end());
  }

  const ExperimentInput& input_;
  LaunchSeries& series_;
  Report& report_;
  std::vector<Candidate> candidates_;
  std::vector<CandidateState> states_;
  std::vector<TrialRow> aside_;
  ExperimentPlan plan_;
  bool all_changed_ = false;
};

void Finish(const LaunchSeries& series, Report& report) {
  if (!series.warning().empty()) report.quality.warnings.push_back(series.warning());
  series.ShowEnd();
}

// `ab` as an experiment of one fix: the other command.
const Treatment kOtherCommand{.id = "B",
                              .summary = "the other command",
                              .exactness = Exactness::kChangesTraining,
                              .condition = "",
                              .metric = Metric::kStepTime,
                              .cures = {},
                              .appliers = {},
                              .values = nullptr};

Result<ExperimentPlan> PlanPairs(const PairsInput& input, const ExperimentInput& as_experiment, LaunchSeries& series) {
  ExperimentPlan plan;
  plan.wants_fresh = false;
  plan.arms = {{.name = "A", .members = {}}, {.name = "B", .members = {}, .side = 1}};
  plan.trials = {{0, false, kAllArm, kBaselineArm, "", ""}};
  plan.window = PilotWindow(input.options, input.run_ahead);
  double fastest_ms = 0;
  std::optional<LaunchResult> first;
  for (Arm& arm : plan.arms) {
    LaunchSpec spec = SpecOf(input.options, input.clock, plan.window, "pilot, " + arm.name);
    spec.side = arm.side;
    const LaunchResult result = series.Insist(spec);
    if (series.stopped()) return Interrupted();
    const auto& command = arm.side ? input.command_b : input.command_a;
    if (!result.ok()) return CommandFailed(fmt::format("{}", fmt::join(command, " ")), result);
    if (const std::string why = first ? UnequalWork(*first, result) : ""; !why.empty()) {
      return Error{"does other work per step: " + why, fmt::format("{}", fmt::join(command, " ")),
                   "compare commands that train on the same batches with the same optimizer", 3};
    }
    if (!first) first = result;
    arm.ms_per_step = result.ms_per_step;
    arm.wall_s = result.wall_s;
    if (fastest_ms == 0 || result.ms_per_step < fastest_ms) fastest_ms = result.ms_per_step;
  }
  const Window pilot = plan.window;
  plan.window = FinalWindow(input.options, input.run_ahead, 0, fastest_ms);
  const int more = plan.window.warmup + plan.window.steps - pilot.warmup - pilot.steps;
  for (Arm& arm : plan.arms) arm.wall_s += more * arm.ms_per_step / 1e3;
  ShapePlan(plan, input.options, input.options.budget_s - series.spent_s());
  series.ShowPlan(plan.Describe(as_experiment.candidates, series.spent_s()));
  return plan;
}

}  // namespace

Result<void> RunExperiment(const ExperimentInput& input, const Launcher& launcher, const ExperimentEvents& events,
                           Report& report) {
  if (input.candidates.empty()) return {};
  Result<std::unique_ptr<Journal>> journal = OpenJournal(input.journal, Identity(input), input.options);
  if (!journal) return journal.error();
  LaunchSeries series(launcher, events, std::move(*journal));
  Result<void> done = Experiment(input, series, report).Run();
  Finish(series, report);
  return done;
}

Result<void> RunPairs(const PairsInput& input, const Launcher& launcher, const ExperimentEvents& events,
                      Report& report) {
  const std::string identity =
      fmt::format("ab|{}|{}|{}|{}", fmt::join(input.command_a, "\x1f"), fmt::join(input.command_b, "\x1f"),
                  OptionsText(input.options, input.clock), input.run_ahead);
  Result<std::unique_ptr<Journal>> journal = OpenJournal(input.journal, identity, input.options);
  if (!journal) return journal.error();
  LaunchSeries series(launcher, events, std::move(*journal));
  ExperimentInput as_experiment;
  as_experiment.options = input.options;
  as_experiment.clock = input.clock;
  as_experiment.candidates = {{&kOtherCommand, {fmt::format("{}", fmt::join(input.command_b, " "))}, {}, 0}};
  Result<ExperimentPlan> plan = PlanPairs(input, as_experiment, series);
  if (!plan) return plan.error();
  report.plan = plan->Describe(as_experiment.candidates, series.spent_s());
  const BlockRun run{.name = "pair",
                     .blocks = plan->blocks,
                     .seed = input.options.seed,
                     .end_s = input.options.budget_s,
                     .drop_losers = false};
  const Observations observed = RunBlocks(as_experiment, run, as_experiment.candidates, *plan, series);
  const std::vector<CandidateState> states(1);
  report.trials = JudgeTrials(*plan, observed, as_experiment.candidates, states, input.options.margin);
  report.noise = NoiseOf(*plan, observed);
  Finish(series, report);
  return {};
}

}  // namespace loopscope
