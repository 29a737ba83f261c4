#include "profiler/experiments/prove/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/experiments/prove/same_training.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

constexpr std::uint64_t kFreshSeed = 0x9e3779b97f4a7c15;  // other orders than the first blocks'

// Time for the fresh blocks was kept back; launches that took longer than their pilots must not cost the answer to what
// all fixes bring. docs/commands/prove.md promises a tenth, the rest of it is for launches that take longer still.
constexpr double kBudgetToFinish = 1.05;
constexpr double kLaunchesVary = 1.02;

bool Helps(const TrialRow& row) {
  if (row.verdict == "faster") return true;
  const bool surely_slower = row.ci95 && (*row.ci95)[1] < 1;
  return row.verdict == "useful" && !surely_slower;
}

ExperimentPlan FreshPlan(const ExperimentPlan& plan, const std::vector<int>& members) {
  ExperimentPlan fresh;
  fresh.window = plan.window;
  Arm recommended{.name = "recommended", .members = members};
  const auto same = std::ranges::find(plan.arms, members, &Arm::members);
  const Arm& alike = same == plan.arms.end() ? plan.arms[kAllArm] : *same;
  recommended.wall_s = alike.wall_s;
  recommended.ms_per_step = alike.ms_per_step;
  fresh.arms = {plan.arms[kBaselineArm], recommended};
  fresh.arms[kBaselineArm].repeats = 1;
  fresh.trials = {{members.front(), false, kAllArm, kBaselineArm, "", ""}};
  return fresh;
}

// An arm that the experiment did not have has cold caches: one launch is discarded. Returns why it cannot be measured.
std::string Warm(const ExperimentInput& input, std::span<const Candidate> candidates, const ExperimentPlan& plan,
                 ExperimentPlan& fresh, LaunchSeries& series) {
  Arm& recommended = fresh.arms[kAllArm];
  if (std::ranges::find(plan.arms, recommended.members, &Arm::members) != plan.arms.end()) return "";
  LaunchSpec spec = SpecOf(input.options, input.clock, plan.window, "fresh pilot, recommended");
  spec.treatment = SettingsOf(recommended, candidates);
  const LaunchResult result = series.Insist(spec);
  if (!result.ok()) return FailureOf(result);
  recommended.wall_s = result.wall_s;
  return "";
}

void FillCombined(const Observations& observed, Metric step_metric, const PlannedTrial& trial, double margin,
                  CombinedRow& row) {
  const std::vector<std::vector<double>> d{observed.Differences(trial, step_metric)};
  const Effect effect = CompareWithReference(d, std::log1p(margin))[0];
  row.n = effect.n;
  if (effect.method == Method::kTooFew) {
    row.reason = fmt::format("{} fresh blocks were run, {} are needed", effect.n, kFewestBlocks);
    if (!observed.ended_early.empty()) row.reason += ": " + observed.ended_early;
    return;
  }
  row.method = MethodName(effect.method);
  row.speedup = std::exp(-effect.estimate);
  row.ci95 = std::array{std::exp(-effect.ci95->high), std::exp(-effect.ci95->low)};
}

}  // namespace

std::vector<int> RecommendedSet(const ExperimentPlan& plan, std::span<const TrialRow> rows) {
  std::vector<int> together;
  const std::vector<int>& all = plan.arms[kAllArm].members;
  int apart = -1;
  double best = 0;
  for (std::size_t t = 0; t < plan.trials.size(); ++t) {
    const PlannedTrial& trial = plan.trials[t];
    const bool in_all = std::ranges::find(all, trial.candidate) != all.end();
    if (!Helps(rows[t])) continue;
    if (in_all && (trial.with_others || all.size() == 1)) together.push_back(trial.candidate);
    if (!in_all && rows[t].speedup.value_or(0) > best) {
      best = *rows[t].speedup;
      apart = trial.candidate;
    }
  }
  if (together.empty() && apart >= 0) return {apart};
  std::ranges::sort(together);
  return together;
}

std::optional<CombinedRow> MeasureRecommended(const ExperimentInput& input, const ExperimentPlan& plan,
                                              std::span<const TrialRow> rows, std::span<const Candidate> candidates,
                                              std::span<const CandidateState> states, LaunchSeries& series) {
  const std::vector<int> members = RecommendedSet(plan, rows);
  if (members.empty()) return std::nullopt;
  CombinedRow combined;
  for (const int member : members) combined.treatments.push_back(candidates[member].Setting());
  ExperimentPlan fresh = FreshPlan(plan, members);
  if (const std::string why = Warm(input, candidates, plan, fresh, series); !why.empty()) {
    combined.reason = "together they fail: " + why;
    return combined;
  }
  const double block_s = fresh.arms[kBaselineArm].wall_s + fresh.arms[kAllArm].wall_s;
  const double fewest_end_s = series.spent_s() + kFewestBlocks * block_s;
  if (fewest_end_s > kBudgetToFinish * input.options.budget_s) {
    combined.reason = "the budget left no time for fresh blocks (--budget)";
    return combined;
  }
  const BlockRun run{.name = "fresh",
                     .blocks = std::max(plan.blocks, kFewestBlocks),
                     .seed = input.options.seed ^ kFreshSeed,
                     .end_s = std::max(input.options.budget_s, kLaunchesVary * fewest_end_s),
                     .drop_losers = false,
                     .same_work = SameWorkOf(candidates)};
  const Observations observed = RunBlocks(input, run, candidates, fresh, series);
  FillCombined(observed, run.same_work.step_metric, fresh.trials[0], input.options.margin, combined);
  const auto untold = std::ranges::count_if(members, [&](int member) { return CannotTell(states[member].loss); });
  if (untold > 0 && combined.speedup) {
    combined.reason = fmt::format("for {} of these it could not be told whether training stays the same", untold);
  }
  return combined;
}

}  // namespace loopscope
