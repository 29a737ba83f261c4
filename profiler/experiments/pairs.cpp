#include "profiler/experiments/pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "profiler/core/printable.h"
#include "profiler/core/statistics/betting.h"
#include "profiler/experiments/launch_results.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/pilots.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

constexpr int kMostPairs = 24;  // if no number was given

Error PilotFailed(const std::string& command, const std::string& clock, const LaunchResult& result) {
  Error error = CommandFailed(command, result);
  if (result.status.end == LaunchEnd::kNoSteps && !clock.empty()) {
    error.what += fmt::format(" (counted as the other command's are: {})", clock);
  }
  return error;
}

std::string Text(const std::vector<std::string>& command) {
  return ShellQuoted(command);
}

// B in the report's terms for treatments.
TrialRow CommandRow(const std::vector<std::string>& command) {
  TrialRow row;
  row.treatment = kCommandB;
  row.value = Text(command);
  row.metric = MetricName(Metric::kStepTime);
  row.exactness = ExactnessName(Exactness::kChangesTraining);
  return row;
}

}  // namespace

Observations PairPlan::Run(LaunchSeries& series, int pairs, std::uint64_t seed, double end_s,
                           std::function<bool(const Observations&)> enough) {
  const BlockRun run{.name = "pair",
                     .unit = "pair",
                     .blocks = pairs,
                     .seed = seed,
                     .end_s = end_s,
                     .drop_losers = false,
                     .enough = std::move(enough),
                     .expected = plan.blocks};
  return RunBlocks(options, run, plan, series);
}

std::string PairsIdentity(std::string_view kind, const PairsInput& input) {
  return fmt::format("{}|{}|{}|{}|{}", kind, fmt::join(input.command_a, "\x1f"), fmt::join(input.command_b, "\x1f"),
                     OptionsText(input.options, input.clock), input.run_ahead);
}

Result<PairPlan> PlanPairs(const PairsInput& input, LaunchSeries& series) {
  PairPlan pairs{input.options, {}};
  ExperimentPlan& plan = pairs.plan;
  plan.wants_fresh = false;
  plan.side_by_side = series.takes_turns();
  plan.arms = {{.name = "A", .settings = {}}, {.name = "B", .settings = {}, .side = 1}};
  plan.comparisons = {{.with_others = false, .arm = kAllArm, .reference = kBaselineArm}};
  PilotRun run(input.options, input.clock, PilotWindow(input.options, input.run_ahead, 0), series);
  int run_ahead = input.run_ahead;
  std::optional<LaunchResult> first;
  bool ahead_alike = true, epochs_alike = true;
  for (Arm& arm : plan.arms) {
    const std::string command = Text(arm.side ? input.command_b : input.command_a);
    const LaunchResult result = run.Launch(arm);
    if (series.stopped()) return Interrupted();
    if (!result.ok()) return PilotFailed(command, run.clock(), result);
    if (const std::string why = first ? UnequalWork(*first, result) : ""; !why.empty()) {
      return Error{"does other work per step: " + why, command,
                   "compare commands that train on the same batches and step as often", 3};
    }
    if (!first) first = result;
    run_ahead = std::max(run_ahead, result.run_ahead);
    ahead_alike = result.run_ahead == first->run_ahead;
    epochs_alike = result.steps_per_epoch == first->steps_per_epoch;
    // A's step clock is used for B too, in every launch.
    if (run.clock().empty()) run.CountBy(result.clock);
    Estimate(arm, result);
  }
  if (!ahead_alike && epochs_alike) run.set_epoch(first->steps_per_epoch);
  plan.clock = run.clock();
  plan.window = run.FinalWindowOf(plan.arms, {.run_ahead = run_ahead});
  ShapePlan(plan, input.options, input.options.budget_s - series.spent_s());
  series.ShowPlan(plan.Describe(series.spent_s()));
  return pairs;
}

Result<void> RunPairs(const PairsInput& input, const Launcher& launcher, const ExperimentEvents& events,
                      Report& report) {
  const auto procedure = [&](LaunchSeries& series) -> Result<void> {
    const bool until_decided = input.options.until_decided;
    PairsInput planned = input;
    if (until_decided) planned.options.blocks = kMostPairs;
    Result<PairPlan> pairs = PlanPairs(planned, series);
    if (!pairs) return pairs.error();
    ExperimentPlan& plan = pairs->plan;
    plan.by_bets = until_decided;
    report.plan = plan.Describe(series.spent_s());
    const auto decided = [&](const Observations& observed) {
      return IsDecided(observed.Differences(plan.comparisons.front(), Metric::kStepTime), input.options.margin);
    };
    const Observations observed = pairs->Run(series, plan.blocks, input.options.seed, input.options.budget_s,
                                             until_decided ? decided : std::function<bool(const Observations&)>());
    // With too few pairs for bets, judge by their spread.
    plan.by_bets = until_decided && observed.blocks >= kClearPairs;
    report.trials = JudgeComparisons(plan, observed, std::vector{CommandRow(input.command_b)}, Metric::kStepTime,
                                     input.options.margin);
    report.noise = NoiseOf(plan, observed);
    return {};
  };
  const std::string identity = PairsIdentity("ab", input) + (input.options.until_decided ? "|until decided" : "");
  return RunJournaled(identity, input.journal, input.options, launcher, events, report, procedure);
}

namespace {

constexpr double kSurely = 0.05;

}  // namespace

bool IsDecided(std::span<const double> d, double margin) {
  if (static_cast<int>(d.size()) < kClearPairs) return false;
  const Effect effect = CompareByBets(d, std::log1p(margin));
  return std::min(effect.p, effect.p_equivalent) <= kSurely;
}

}  // namespace loopscope
