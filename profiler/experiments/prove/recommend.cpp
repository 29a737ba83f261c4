#include "profiler/experiments/prove/recommend.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/experiments/pilots.h"
#include "profiler/experiments/prove/rows.h"

namespace loopscope {
namespace {

// Time for the fresh blocks was reserved, but launches slower than their pilots may exceed it: allow 5 % more.
// docs/commands/prove.md promises a tenth; the rest is a margin for still slower launches.
constexpr double kBudgetToFinish = 1.05;
constexpr double kLaunchesVary = 1.02;

bool Helps(const TrialRow& row) {
  if (row.verdict == TrialVerdict::kFaster) return true;
  const bool surely_slower = row.ci95 && (*row.ci95)[1] < 1;
  return row.verdict == TrialVerdict::kUseful && !surely_slower;
}

bool Has(const ExperimentPlan& plan, const Settings& settings) {
  return std::ranges::find(plan.arms, settings, &Arm::settings) != plan.arms.end();
}

ExperimentPlan FreshPlan(const ExperimentPlan& plan, const Settings& settings) {
  ExperimentPlan fresh;
  fresh.clock = plan.clock;
  fresh.window = plan.window;
  Arm recommended{.name = "recommended", .settings = settings};
  const auto same = std::ranges::find(plan.arms, settings, &Arm::settings);
  const Arm& alike = same == plan.arms.end() ? plan.arms[kAllArm] : *same;
  recommended.wall_s = alike.wall_s;
  recommended.ms_per_step = alike.ms_per_step;
  fresh.arms = {plan.arms[kBaselineArm], recommended};
  fresh.arms[kBaselineArm].repeats = 1;
  fresh.comparisons = {{.with_others = false, .arm = kAllArm, .reference = kBaselineArm}};
  return fresh;
}

// A new arm has cold caches, so one launch is discarded. Returns why it cannot be measured.
std::string Warm(const ExperimentOptions& options, const ExperimentPlan& plan, ExperimentPlan& fresh,
                 LaunchSeries& series) {
  Arm& recommended = fresh.arms[kAllArm];
  if (Has(plan, recommended.settings)) return "";
  const LaunchResult result = PilotRun(options, plan.clock, plan.window, series).Launch(recommended, "fresh pilot");
  if (!result.ok()) return FailureOf(result);
  recommended.wall_s = result.wall_s;
  return "";
}

}  // namespace

std::vector<int> RecommendedSet(const ExperimentPlan& plan, std::span<const TrialRow> rows) {
  std::vector<int> together;
  const Settings& all = plan.arms[kAllArm].settings;
  int apart = -1;
  double best = 0;
  for (std::size_t t = 0; t < plan.comparisons.size(); ++t) {
    const PlannedComparison& one = plan.comparisons[t];
    const bool in_all = std::ranges::find(all, rows[t].treatment, &Settings::value_type::first) != all.end();
    if (!Helps(rows[t])) continue;
    if (in_all && (one.with_others || all.size() == 1)) together.push_back(one.subject);
    if (!in_all && rows[t].speedup.value_or(0) > best) {
      best = *rows[t].speedup;
      apart = one.subject;
    }
  }
  if (together.empty() && apart >= 0) return {apart};
  std::ranges::sort(together);
  return together;
}

std::vector<int> KeptOfAll(const ExperimentPlan& plan, std::span<const TrialRow> rows,
                           std::span<const Contender> contenders) {
  std::vector<int> kept;
  for (int i = 0; i < static_cast<int>(contenders.size()); ++i) {
    bool stays = contenders[i].together();
    for (std::size_t t = 0; t < plan.comparisons.size(); ++t) {
      const PlannedComparison& one = plan.comparisons[t];
      if (one.subject != i || !one.with_others) continue;
      const TrialVerdict verdict = rows[t].verdict;
      stays = stays && (verdict == TrialVerdict::kInconclusive || Helps(rows[t]));
    }
    if (stays) kept.push_back(i);
  }
  return kept;
}

std::optional<CombinedRow> MeasureRecommended(const ExperimentInput& input, const ExperimentPlan& plan,
                                              const std::vector<int>& members, std::span<const Contender> contenders,
                                              LaunchSeries& series) {
  if (members.empty()) return std::nullopt;
  CombinedRow combined = RowOf(members, contenders);
  ExperimentPlan fresh = FreshPlan(plan, SettingsOf(members, contenders));
  if (const std::string why = Warm(input.options, plan, fresh, series); !why.empty()) {
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
                     .same_work = SameWorkOf(CandidatesIn(contenders))};
  const Observations observed = RunBlocks(input.options, run, fresh, series);
  AddMeasured(fresh, observed, run.same_work.step_metric, input.options.margin, "fresh blocks", combined);
  return combined;
}

}  // namespace loopscope
