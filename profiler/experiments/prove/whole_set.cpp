#include "profiler/experiments/prove/whole_set.h"

#include <algorithm>
#include <utility>

#include "profiler/core/statistics/betting.h"
#include "profiler/experiments/pairs.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

constexpr int kMostPairs = 12, kMostPairsOfOne = 24;
constexpr double kShare = 0.5;          // of the budget that is left
constexpr double kMayTakeLonger = 1.1;  // launches than their pilots, when deciding whether blocks fit after the pairs

// A block has a launch of each arm.
double BlockSeconds(const ExperimentPlan& plan) {
  double seconds = 0;
  for (const Arm& arm : plan.arms) seconds += arm.wall_s;
  return seconds;
}

// The fewest blocks of ALL and ALL without one fix, and the pilot of the latter.
double SecondsForOneFix(const Arm& all) {
  return (2 * kFewestBlocks + 1) * all.wall_s;
}

bool HoldsBlocksAfter(const ExperimentPlan& pairs, double left_s) {
  return kMayTakeLonger * (kClearPairs * BlockSeconds(pairs) + SecondsForOneFix(pairs.arms[kAllArm])) <= left_s;
}

double SecondsFor(const WholeSet& set, double left_s) {
  if (set.only_fix || set.with_first_fix() || !HoldsBlocksAfter(set.plan, left_s)) return left_s;
  const double share_s = std::max(kShare * left_s, kClearPairs * BlockSeconds(set.plan));
  return std::min(share_s, left_s - SecondsForOneFix(set.plan.arms[kAllArm]));
}

// The baseline and ALL; with `fix`, a comparison of `plan`, its arm beside them.
ExperimentPlan PairsOf(const ExperimentInput& input, std::span<const Contender> contenders, const FixPilots& pilots,
                       const ExperimentPlan& plan, bool only_fix, const PlannedComparison* fix = nullptr) {
  ExperimentPlan pairs;
  pairs.arms = {plan.arms[kBaselineArm], plan.arms[kAllArm]};
  const Metric metric = only_fix ? contenders.front().candidate.treatment->metric : Metric::kStepTime;
  pairs.comparisons = {{.with_others = false, .arm = kAllArm, .reference = kBaselineArm, .metric = metric}};
  if (fix) {
    // Without a pilot, estimate the mean of the two.
    Arm arm = plan.arms[fix->arm];
    arm.wall_s = (pairs.arms[kBaselineArm].wall_s + pairs.arms[kAllArm].wall_s) / 2;
    arm.ms_per_step = (pairs.arms[kBaselineArm].ms_per_step + pairs.arms[kAllArm].ms_per_step) / 2;
    pairs.arms.push_back(std::move(arm));
    pairs.comparisons.push_back(*fix);
    pairs.comparisons.back().arm = kAllArm + 1;
  }
  for (Arm& arm : pairs.arms) arm.repeats = 1;
  pairs.wants_fresh = false;
  pairs.by_bets = true;
  pairs.side_by_side = plan.side_by_side;
  pairs.clock = input.clock;
  const int epoch = pairs.comparisons.back().metric == Metric::kEpochBoundary ? input.steps_per_epoch : 0;
  pairs.window = pilots.run.FinalWindowOf(
      pairs.arms, {.run_ahead = RunAhead(CandidatesIn(contenders), input.loader), .steps_per_epoch = epoch});
  return pairs;
}

// Adds the first fix to the pairs if its own blocks do not fit after them, but six such rounds fit.
ExperimentPlan PairsThatFit(const ExperimentInput& input, std::span<const Contender> contenders,
                            const FixPilots& pilots, const ExperimentPlan& plan, double left_s) {
  ExperimentPlan pairs = PairsOf(input, contenders, pilots, plan, false);
  const auto first = std::ranges::find(plan.comparisons, 0, &PlannedComparison::subject);
  if (HoldsBlocksAfter(pairs, left_s) || first == plan.comparisons.end() || first->arm <= kAllArm) return pairs;
  ExperimentPlan rounds = PairsOf(input, contenders, pilots, plan, false, &*first);
  return kClearPairs * BlockSeconds(rounds) <= left_s ? rounds : pairs;
}

// Whether all comparisons are decided; otherwise keeps only the arms that undecided ones need.
bool AllDecided(const Observations& observed, Metric step_metric, double margin, ExperimentPlan& plan) {
  std::vector<bool> needed(plan.arms.size(), false);
  for (const PlannedComparison& one : plan.comparisons) {
    if (!one.open()) continue;
    if (IsDecided(observed.Differences(one, TimedMetric(one.metric, step_metric)), margin)) continue;
    needed[one.arm] = needed[one.reference] = true;
  }
  if (std::ranges::find(needed, true) == needed.end()) return true;
  for (std::size_t arm = 0; arm < needed.size(); ++arm) {
    if (!needed[arm]) plan.arms[arm].repeats = 0;
  }
  return false;
}

// New pilot for ALL, whose members changed. Returns false if it fails; its comparisons then report that.
bool Pilot(const FixPilots& pilots, std::span<const Contender> contenders, Arm& all) {
  PilotRun run = pilots.run;
  const LaunchResult result =
      HeldTo(pilots.baseline, run.Launch(all, "arm pilot"), SameWorkOf(CandidatesIn(contenders)));
  if (result.ok()) Estimate(all, result);
  return result.ok();
}

}  // namespace

ExperimentPlan WholeSet::PlanOfFirstFix() const {
  ExperimentPlan of_fix = plan;
  of_fix.comparisons.erase(of_fix.comparisons.begin());
  PlannedComparison& one = of_fix.comparisons.front();
  if (one.with_others && one.verdict == TrialVerdict::kFailed) one.reason = "without it the others fail " + one.reason;
  return of_fix;
}

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
  const double left_s = input.options.budget_s - series.spent_s();
  set.plan = set.only_fix ? PairsOf(input, contenders, pilots, plan, true)
                          : PairsThatFit(input, contenders, pilots, plan, left_s);
  const double seconds = SecondsFor(set, left_s);
  ExperimentOptions options = input.options;
  options.blocks = set.only_fix ? kMostPairsOfOne : kMostPairs;
  ShapePlan(set.plan, options, seconds);
  set.description = set.plan.Describe(series.spent_s());
  series.ShowPlan(set.description);
  const Metric step_metric = StepMetric(CandidatesIn(contenders));
  const auto enough = [&](const Observations& observed) {
    return AllDecided(observed, step_metric, options.margin, set.plan);
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
