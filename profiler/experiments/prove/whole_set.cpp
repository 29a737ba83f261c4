#include "profiler/experiments/prove/whole_set.h"

#include <algorithm>

#include "profiler/core/statistics/betting.h"
#include "profiler/experiments/decided.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

constexpr int kMostPairs = 12, kMostPairsOfOne = 24;
constexpr double kShare = 0.5;  // of the budget that is left

// The fewest blocks of ALL and ALL without one fix, and the pilot of the latter.
double SecondsForOneFix(const Arm& all) {
  return (2 * kFewestBlocks + 1) * all.wall_s;
}

double SecondsFor(const WholeSet& set, double left_s) {
  const double pair_s = set.plan.arms[kBaselineArm].wall_s + set.plan.arms[kAllArm].wall_s;
  const double clear_s = kClearPairs * pair_s, one_fix_s = SecondsForOneFix(set.plan.arms[kAllArm]);
  const double share_s = std::max(kShare * left_s, clear_s);
  if (set.only_fix || left_s - one_fix_s < clear_s) return left_s;
  return std::min(share_s, left_s - one_fix_s);
}

ExperimentPlan PairsOf(const ExperimentInput& input, std::span<const Contender> contenders, const FixPilots& pilots,
                       const ExperimentPlan& plan, bool only_fix) {
  ExperimentPlan pairs;
  pairs.arms = {plan.arms[kBaselineArm], plan.arms[kAllArm]};
  for (Arm& arm : pairs.arms) arm.repeats = 1;
  const Metric metric = only_fix ? contenders.front().candidate.treatment->metric : Metric::kStepTime;
  pairs.comparisons = {{.with_others = false, .arm = kAllArm, .reference = kBaselineArm, .metric = metric}};
  pairs.wants_fresh = false;
  pairs.by_bets = true;
  pairs.side_by_side = plan.side_by_side;
  pairs.clock = input.clock;
  const int epoch = metric == Metric::kEpochBoundary ? input.steps_per_epoch : 0;
  pairs.window = pilots.run.FinalWindowOf(
      pairs.arms, {.run_ahead = RunAhead(CandidatesIn(contenders), input.loader), .steps_per_epoch = epoch});
  return pairs;
}

// Its members differ from those of its pilot. False: it fails, which its comparisons will say.
bool Pilot(const FixPilots& pilots, std::span<const Contender> contenders, Arm& all) {
  PilotRun run = pilots.run;
  const LaunchResult result =
      HeldTo(pilots.baseline, run.Launch(all, "arm pilot"), SameWorkOf(CandidatesIn(contenders)));
  if (result.ok()) Estimate(all, result);
  return result.ok();
}

}  // namespace

std::optional<LaunchResult> WholeSet::baseline() const {
  const auto first = std::ranges::find_if(
      observed.rows, [](const Observation& row) { return row.arm == kBaselineArm && row.result.ok(); });
  return first == observed.rows.end() ? std::nullopt : std::optional(first->result);
}

std::optional<WholeSet> MeasureWholeSet(const ExperimentInput& input, std::span<const Contender> contenders,
                                        const FixPilots& pilots, ExperimentPlan& plan, LaunchSeries& series) {
  WholeSet set;
  const std::size_t members = plan.arms[kAllArm].settings.size();
  set.only_fix = members == 1 && contenders.size() == 1;
  if (members < 2 && !set.only_fix) return std::nullopt;
  if (plan.arms[kAllArm].to_pilot && !Pilot(pilots, contenders, plan.arms[kAllArm])) return std::nullopt;
  set.plan = PairsOf(input, contenders, pilots, plan, set.only_fix);
  const double seconds = SecondsFor(set, input.options.budget_s - series.spent_s());
  ExperimentOptions options = input.options;
  options.blocks = set.only_fix ? kMostPairsOfOne : kMostPairs;
  ShapePlan(set.plan, options, seconds);
  series.ShowPlan(set.plan.Describe(series.spent_s()));
  const Metric step_metric = StepMetric(CandidatesIn(contenders));
  const PlannedComparison& comparison = set.plan.comparisons.front();
  const auto enough = [&](const Observations& observed) {
    return IsDecided(observed.Differences(comparison, TimedMetric(comparison.metric, step_metric)), options.margin);
  };
  const BlockRun run{.name = "pair",
                     .unit = "pair",
                     .blocks = options.blocks,
                     .seed = options.seed ^ kWholeSeed,
                     .end_s = series.spent_s() + seconds,
                     .drop_losers = false,
                     .same_work = SameWorkOf(CandidatesIn(contenders)),
                     .enough = enough,
                     .expected = std::clamp(set.plan.blocks, 1, kClearPairs)};
  set.observed = RunBlocks(options, run, set.plan, series);
  if (series.stopped() && set.observed.blocks == 0) return std::nullopt;
  set.plan.by_bets = set.observed.blocks >= kClearPairs;
  return set;
}

}  // namespace loopscope
