#include "profiler/experiments/pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "profiler/experiments/pilots.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

// `ab` as an experiment of one fix: the other command.
const Treatment kOtherCommand{.id = kOtherCommandId,
                              .summary = "the other command",
                              .exactness = Exactness::kChangesTraining,
                              .condition = "",
                              .metric = Metric::kStepTime,
                              .cures = {},
                              .appliers = {},
                              .values = nullptr};

Error PilotFailed(const std::string& command, const LaunchSpec& spec, const LaunchResult& result) {
  Error error = CommandFailed(command, result);
  if (result.status == "no steps" && !spec.clock.empty()) {
    error.what += fmt::format(" (counted as the other command's are: {})", spec.clock);
  }
  return error;
}

}  // namespace

Observations PairPlan::Run(LaunchSeries& series, const std::string& name, int pairs, std::uint64_t seed, double end_s) {
  const BlockRun run{.name = name, .blocks = pairs, .seed = seed, .end_s = end_s, .drop_losers = false};
  return RunBlocks(input, run, input.candidates, plan, series);
}

std::string PairsIdentity(std::string_view kind, const PairsInput& input) {
  return fmt::format("{}|{}|{}|{}|{}", kind, fmt::join(input.command_a, "\x1f"), fmt::join(input.command_b, "\x1f"),
                     OptionsText(input.options, input.clock), input.run_ahead);
}

Result<PairPlan> PlanPairs(const PairsInput& input, LaunchSeries& series) {
  PairPlan pairs;
  pairs.input.options = input.options;
  pairs.input.clock = input.clock;
  pairs.input.candidates = {{&kOtherCommand, {fmt::format("{}", fmt::join(input.command_b, " "))}, {}, 0}};
  ExperimentPlan& plan = pairs.plan;
  plan.wants_fresh = false;
  plan.side_by_side = series.takes_turns();
  plan.arms = {{.name = "A", .members = {}}, {.name = "B", .members = {}, .side = 1}};
  plan.trials = {{0, false, kAllArm, kBaselineArm, "", ""}};
  plan.window = PilotWindow(input.options, input.run_ahead, 0);
  double fastest_ms = 0;
  int run_ahead = input.run_ahead;
  std::optional<LaunchResult> first;
  bool ahead_alike = true, epochs_alike = true;
  for (Arm& arm : plan.arms) {
    LaunchSpec spec = SpecOf(input.options, pairs.input.clock, plan.window, "pilot, " + arm.name);
    spec.side = arm.side;
    const LaunchResult result = series.Insist(spec);
    if (series.stopped()) return Interrupted();
    const auto& command = arm.side ? input.command_b : input.command_a;
    if (!result.ok()) return PilotFailed(fmt::format("{}", fmt::join(command, " ")), spec, result);
    if (const std::string why = first ? UnequalWork(*first, result) : ""; !why.empty()) {
      return Error{"does other work per step: " + why, fmt::format("{}", fmt::join(command, " ")),
                   "compare commands that train on the same batches and step as often", 3};
    }
    if (!first) first = result;
    run_ahead = std::max(run_ahead, result.run_ahead);
    ahead_alike = result.run_ahead == first->run_ahead;
    epochs_alike = result.steps_per_epoch == first->steps_per_epoch;
    // What ends A's steps ends B's, in every launch.
    if (pairs.input.clock.empty()) pairs.input.clock = result.clock;
    arm.ms_per_step = result.ms_per_step;
    arm.wall_s = result.wall_s;
    arm.settled_after = result.settled_after;
    if (fastest_ms == 0 || result.ms_per_step < fastest_ms) fastest_ms = result.ms_per_step;
  }
  const Window pilot = plan.window;
  const ExperimentOptions options = WithWarmup(input.options, plan.arms);
  plan.window = FinalWindow(options, run_ahead, 0, fastest_ms);
  const int least = FinalWindow(options, 0, 0, fastest_ms).steps;
  if (!ahead_alike && epochs_alike) plan.window = WholeEpochs(plan.window, least, options, first->steps_per_epoch);
  const int more = plan.window.warmup + plan.window.steps - pilot.warmup - pilot.steps;
  for (Arm& arm : plan.arms) arm.wall_s += more * arm.ms_per_step / 1e3;
  ShapePlan(plan, input.options, input.options.budget_s - series.spent_s());
  series.ShowPlan(plan.Describe(pairs.input.candidates, series.spent_s()));
  return pairs;
}

Result<void> RunPairs(const PairsInput& input, const Launcher& launcher, const ExperimentEvents& events,
                      Report& report) {
  Result<std::unique_ptr<Journal>> journal = OpenJournal(input.journal, PairsIdentity("ab", input), input.options);
  if (!journal) return journal.error();
  LaunchSeries series(launcher, events, std::move(*journal));
  Result<PairPlan> pairs = PlanPairs(input, series);
  if (!pairs) return pairs.error();
  report.plan = pairs->plan.Describe(pairs->input.candidates, series.spent_s());
  const Observations observed =
      pairs->Run(series, "pair", pairs->plan.blocks, input.options.seed, input.options.budget_s);
  const std::vector<CandidateState> states(1);
  report.trials = JudgeTrials(pairs->plan, observed, pairs->input.candidates, states, input.options.margin);
  report.noise = NoiseOf(pairs->plan, observed);
  FinishSeries(series, report);
  return {};
}

}  // namespace loopscope
