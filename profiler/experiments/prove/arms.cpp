#include "profiler/experiments/prove/arms.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/launch_results.h"

namespace loopscope {
namespace {

constexpr int kAloneArms = 3;  // measured alone unless asked otherwise

int IndexOfArm(ExperimentPlan& plan, std::string name, Settings settings) {
  const auto same = std::ranges::find(plan.arms, settings, &Arm::settings);
  if (same != plan.arms.end()) return static_cast<int>(same - plan.arms.begin());
  plan.arms.push_back({.name = std::move(name), .settings = std::move(settings)});
  return static_cast<int>(plan.arms.size()) - 1;
}

Settings Without(Settings settings, const Settings::value_type& one) {
  std::erase(settings, one);
  return settings;
}

}  // namespace

ExperimentPlan PlanArms(std::span<const Candidate> candidates, const std::vector<bool>& in_all, int alone) {
  ExperimentPlan plan;
  Settings all;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (in_all[i]) all.push_back(candidates[i].KeyAndValue());
  }
  plan.arms.push_back({.name = "baseline", .settings = {}});
  plan.arms.push_back({.name = "ALL", .settings = all, .repeats = all.empty() ? 0 : 1});
  const int wanted = alone < 0 ? kAloneArms : alone;
  int costliest = 0;
  for (int i = 0; i < static_cast<int>(candidates.size()); ++i) {
    const auto own = candidates[i].KeyAndValue();
    const auto compare = [&](bool with_others, int arm) {
      plan.comparisons.push_back({.subject = i,
                                  .with_others = with_others,
                                  .arm = arm,
                                  .reference = with_others ? kAllArm : kBaselineArm,
                                  .metric = candidates[i].treatment->metric});
    };
    if (in_all[i] && all.size() > 1) compare(true, IndexOfArm(plan, "ALL-" + own.first, Without(all, own)));
    // A single fix, or one that fails with the others, is measured alone.
    const bool only_alone = !in_all[i] || all.size() == 1;
    if (only_alone || costliest++ < wanted) compare(false, IndexOfArm(plan, own.first, {own}));
  }
  return plan;
}

namespace {

void LeaveOut(ExperimentPlan& plan, int arm, const std::string& why) {
  const int before = plan.subjects_without_comparison();
  plan.EndComparisons(arm, TrialVerdict::kInconclusive, why);
  plan.left_out += plan.subjects_without_comparison() - before;
}

// Fails the comparisons that have this arm on either side.
void Fail(ExperimentPlan& plan, int arm, const std::string& why) {
  for (PlannedComparison& one : plan.comparisons) {
    if (one.arm != arm && one.reference != arm) continue;
    one.verdict = TrialVerdict::kFailed;
    one.reason = one.with_others && one.arm == arm ? "without it the others fail: " + why : why;
  }
  plan.arms[arm].repeats = 0;
}

// Arms whose pilots are launched next; arms without time are left out.
std::vector<int> NextPilots(const ExperimentInput& input, const LaunchSeries& series, ExperimentPlan& plan) {
  std::vector<int> next;
  double end_s = series.spent_s();
  for (int a = 0; a < static_cast<int>(plan.arms.size()) && next.size() < kStartAtOnce; ++a) {
    if (plan.arms[a].repeats == 0 || !plan.arms[a].to_pilot) continue;
    if (a > kAllArm && end_s + plan.arms[a].wall_s > input.options.budget_s) {
      LeaveOut(plan, a, "the budget left no time for it (--budget)");
      continue;
    }
    end_s += plan.arms[a].wall_s;
    next.push_back(a);
  }
  return next;
}

// Assume that arms without a launch take as long as their reference.
void GuessOthers(ExperimentPlan& plan) {
  for (const PlannedComparison& one : plan.comparisons) {
    if (plan.arms[one.arm].to_pilot && one.arm > kAllArm) plan.arms[one.arm].wall_s = plan.arms[one.reference].wall_s;
  }
}

}  // namespace

void GuessArms(const FixPilots& pilots, bool all_changed, ExperimentPlan& plan) {
  Estimate(plan.arms[kBaselineArm], pilots.baseline);
  Estimate(plan.arms[kAllArm], pilots.all);
  plan.arms[kAllArm].to_pilot = all_changed;
  for (const PlannedComparison& one : plan.comparisons) {
    if (one.arm > kAllArm) plan.arms[one.arm].to_pilot = true;
  }
  GuessOthers(plan);
}

void GuessFromPairs(const Observations& pairs, ExperimentPlan& plan) {
  for (const int arm : {kBaselineArm, kAllArm}) {
    std::vector<double> seconds;
    for (const Observation& row : pairs.rows) {
      if (row.arm == arm && row.result.ok()) seconds.push_back(row.result.wall_s);
    }
    if (!seconds.empty()) plan.arms[arm].wall_s = Median(std::move(seconds));
  }
  GuessOthers(plan);
}

Result<void> RunArmPilots(const ExperimentInput& input, std::span<const Contender> contenders, FixPilots& pilots,
                          ExperimentPlan& plan, LaunchSeries& series) {
  const std::vector<Candidate> candidates = CandidatesIn(contenders);
  for (std::vector<int> next = NextPilots(input, series, plan); !next.empty(); next = NextPilots(input, series, plan)) {
    std::vector<Arm> arms;
    for (const int a : next) arms.push_back(plan.arms[a]);
    std::vector<LaunchResult> results = pilots.run.LaunchBeside(arms, "arm pilot");
    if (series.stopped()) return Interrupted();
    for (std::size_t i = 0; i < next.size(); ++i) {
      const LaunchResult result = HeldTo(pilots.baseline, std::move(results[i]), SameWorkOf(candidates));
      if (result.ok()) {
        Estimate(plan.arms[next[i]], result);
      } else {
        Fail(plan, next[i], FailureOf(result));
      }
    }
  }
  const bool boundary = std::ranges::any_of(
      plan.comparisons, [](const PlannedComparison& one) { return one.metric == Metric::kEpochBoundary; });
  plan.clock = input.clock;
  plan.window = pilots.run.FinalWindowOf(plan.arms, {.run_ahead = RunAhead(candidates, input.loader),
                                                     .steps_per_epoch = boundary ? input.steps_per_epoch : 0});
  return {};
}

}  // namespace loopscope
