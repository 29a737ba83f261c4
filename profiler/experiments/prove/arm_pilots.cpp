#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "profiler/experiments/pilots.h"

namespace loopscope {
namespace {

void Estimate(Arm& arm, const LaunchResult& pilot) {
  arm.ms_per_step = pilot.ms_per_step;
  arm.wall_s = pilot.wall_s;
  arm.settled_after = pilot.settled_after;
  arm.to_pilot = false;
}

// Fixes that no trial is left of.
int WithoutTrials(const ExperimentPlan& plan) {
  std::set<int> all, running;
  for (const PlannedTrial& trial : plan.trials) {
    all.insert(trial.candidate);
    if (trial.verdict.empty()) running.insert(trial.candidate);
  }
  return static_cast<int>(all.size() - running.size());
}

void LeaveOut(ExperimentPlan& plan, int arm, const std::string& why) {
  const int before = WithoutTrials(plan);
  plan.EndTrials(arm, "inconclusive", why);
  plan.left_out += WithoutTrials(plan) - before;
}

// The reference of a trial that failed is out too, unless others need it.
void Fail(ExperimentPlan& plan, int arm, const std::string& why) {
  for (PlannedTrial& trial : plan.trials) {
    if (trial.arm != arm && trial.reference != arm) continue;
    trial.verdict = "failed";
    trial.reason = trial.with_others && trial.arm == arm ? "without it the others fail: " + why : why;
  }
  plan.arms[arm].repeats = 0;
}

}  // namespace

void GuessArms(const Pilots& pilots, bool all_changed, ExperimentPlan& plan) {
  Estimate(plan.arms[kBaselineArm], pilots.baseline);
  Estimate(plan.arms[kAllArm], pilots.all);
  plan.arms[kAllArm].to_pilot = all_changed;
  for (const PlannedTrial& trial : plan.trials) {
    Arm& arm = plan.arms[trial.arm];
    if (trial.arm <= kAllArm) continue;
    arm.wall_s = plan.arms[trial.reference].wall_s;
    arm.to_pilot = true;
  }
}

Result<void> RunArmPilots(const ExperimentInput& input, std::span<const Candidate> candidates, const Pilots& pilots,
                          ExperimentPlan& plan, LaunchSeries& series) {
  for (int a = 0; a < static_cast<int>(plan.arms.size()); ++a) {
    if (plan.arms[a].repeats == 0 || !plan.arms[a].to_pilot) continue;
    if (a > kAllArm && series.spent_s() + plan.arms[a].wall_s > input.options.budget_s) {
      LeaveOut(plan, a, "the budget left no time for it (--budget)");
      continue;
    }
    LaunchSpec spec = SpecOf(input.options, input.clock, pilots.window, "arm pilot, " + plan.arms[a].name);
    spec.treatment = SettingsOf(plan.arms[a], candidates);
    const LaunchResult result = HeldTo(pilots.baseline, series.Insist(spec), SameWorkOf(candidates));
    if (series.stopped()) return Interrupted();
    if (result.ok()) {
      Estimate(plan.arms[a], result);
    } else {
      Fail(plan, a, FailureOf(result));
    }
  }
  double fastest_ms = pilots.baseline.ms_per_step;
  for (const Arm& arm : plan.arms) {
    if (arm.ms_per_step > 0) fastest_ms = std::min(fastest_ms, arm.ms_per_step);
  }
  const bool boundary =
      std::ranges::any_of(plan.trials, [&](const auto& one) { return JudgedByBoundary(candidates[one.candidate]); });
  const ExperimentOptions options = WithWarmup(input.options, plan.arms);
  plan.window = FinalWindow(options, Ahead(input, candidates), boundary ? input.steps_per_epoch : 0, fastest_ms);
  const int least = FinalWindow(options, 0, 0, fastest_ms).steps;
  plan.window = WholeEpochs(plan.window, least, options, pilots.steps_per_epoch);
  const int more = plan.window.warmup + plan.window.steps - pilots.window.warmup - pilots.window.steps;
  for (Arm& arm : plan.arms) arm.wall_s += more * arm.ms_per_step / 1e3;
  return {};
}

}  // namespace loopscope
