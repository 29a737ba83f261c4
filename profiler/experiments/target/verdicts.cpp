#include "profiler/experiments/target/verdicts.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/core/report/reach.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

Reach SecondsOf(const TargetRun& run) {
  return {run.seconds, !run.reached};
}

std::optional<Reach> StepsOf(const TargetRun& run) {
  if (!run.steps || *run.steps <= 0) return std::nullopt;
  return Reach{*run.steps, !run.reached};
}

struct Compared {
  ReachEffect seconds, steps;
};

// Compares them on the seeds that both have.
Compared Compare(const ReachArm& baseline, const ReachArm& treated) {
  std::vector<ReachPair> seconds, steps;
  for (const TargetRun& run : treated.runs) {
    const auto other = std::ranges::find(baseline.runs, run.block, &TargetRun::block);
    if (other == baseline.runs.end()) continue;
    seconds.push_back({SecondsOf(*other), SecondsOf(run)});
    const auto before = StepsOf(*other), after = StepsOf(run);
    if (before && after) steps.push_back({*before, *after});
  }
  return {CompareReach(seconds), CompareReach(steps)};
}

TargetArm ArmFacts(const ReachArm& arm) {
  TargetArm facts;
  facts.name = arm.name;
  facts.runs = arm.runs;
  std::vector<Reach> seconds, steps, samples;
  for (const TargetRun& run : arm.runs) {
    facts.reached += run.reached;
    seconds.push_back(SecondsOf(run));
    steps.push_back({run.steps.value_or(0), !run.reached || !run.steps});
    samples.push_back({run.samples.value_or(0), !run.reached || !run.samples});
  }
  facts.median_s = MedianReach(seconds);
  facts.median_steps = MedianReach(steps);
  facts.median_samples = MedianReach(samples);
  return facts;
}

std::string Censored(const ReachArm& arm) {
  const auto count = std::ranges::count(arm.runs, false, &TargetRun::reached);
  return count == 0 ? "" : fmt::format("{} of {} runs of {} never reached it", count, arm.runs.size(), arm.name);
}

TrialRow Describe(const Candidate& candidate, const ReachArm& arm) {
  TrialRow row;
  row.treatment = candidate.treatment->id;
  row.value = candidate.values.front();
  row.context = "alone";
  row.metric = "time-to-target";
  row.exactness = ExactnessName(candidate.treatment->exactness);
  row.applied = arm.applied;
  row.verdict = arm.verdict;
  row.reason = arm.reason;
  return row;
}

void Fill(const ReachEffect& effect, double p_holm, TrialRow& row) {
  row.n = effect.n;
  row.method = "exact";
  row.p = effect.p;
  row.p_holm = p_holm;
  row.speedup = effect.ratio.estimate;
  if (effect.ratio.low && effect.ratio.high) row.ci95 = {*effect.ratio.low, *effect.ratio.high};
  row.verdict = TrialVerdict::kInconclusive;
  if (effect.n < kFewestSeeds) {
    AddReason(row.reason, fmt::format("under {} seeds no verdict is given", kFewestSeeds));
  } else if (p_holm <= 0.05 && effect.sign != 0) {
    row.verdict = effect.sign > 0 ? TrialVerdict::kFaster : TrialVerdict::kSlower;
  }
  if (effect.ratio.low && !effect.ratio.high) AddReason(row.reason, fmt::format("at least {:.2f}x", *effect.ratio.low));
  if (effect.ratio.high && !effect.ratio.low) AddReason(row.reason, fmt::format("at most {:.2f}x", *effect.ratio.high));
}

void FillLaunches(std::span<const ReachArm> arms, std::size_t arm, TrialRow& row) {
  for (const std::size_t one : {std::size_t{0}, arm}) {
    for (const TargetRun& run : arms[one].runs) {
      row.launches.push_back({run.block, 0, one == 0 ? "baseline" : row.treatment, std::nullopt, run.status});
    }
  }
}

}  // namespace

void JudgeTargets(std::span<const Candidate> candidates, int blocks, const std::string& ended,
                  std::span<const ReachArm> arms, Report& report) {
  TargetFacts& facts = report.target.emplace();
  for (const ReachArm& arm : arms) {
    if (!arm.runs.empty()) facts.arms.push_back(ArmFacts(arm));
  }
  std::vector<Compared> compared;
  std::vector<double> p;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    compared.push_back(arms[i + 1].alive() && blocks > 0 ? Compare(arms[0], arms[i + 1]) : Compared{});
    p.push_back(compared.back().seconds.p);  // 1 for those that ended early
  }
  const std::vector<double> adjusted = Holm(p);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    TrialRow row = Describe(candidates[i], arms[i + 1]);
    if (arms[i + 1].alive()) {
      Fill(compared[i].seconds, adjusted[i], row);
      AddReason(row.reason, Censored(arms[0]));
      AddReason(row.reason, Censored(arms[i + 1]));
      AddReason(row.reason, ended);
      facts.comparisons.push_back(
          {arms[i + 1].name, compared[i].seconds.n, compared[i].seconds.ratio, compared[i].steps.ratio});
    }
    FillLaunches(arms, i + 1, row);
    report.trials.push_back(std::move(row));
  }
}

}  // namespace loopscope
