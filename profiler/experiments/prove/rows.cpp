#include "profiler/experiments/prove/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "profiler/core/statistics/betting.h"
#include "profiler/experiments/prove/same_training.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

TrialRow Describe(const Contender& contender) {
  const auto& [candidate, state] = contender;
  TrialRow row;
  row.treatment = candidate.treatment->id;
  row.value = candidate.values.front();
  row.rules = candidate.rules;
  row.metric = MetricName(candidate.treatment->metric);
  row.exactness = ExactnessName(candidate.treatment->exactness);
  row.applied = state.applied;
  row.loss = state.loss;
  AddReason(row.reason, state.note);
  return row;
}

}  // namespace

std::vector<TrialRow> JudgeFixes(const ExperimentPlan& plan, const Observations& observed,
                                 std::span<const Contender> contenders, double margin) {
  std::vector<TrialRow> subjects;
  for (const Contender& one : contenders) subjects.push_back(Describe(one));
  return JudgeComparisons(plan, observed, subjects, StepMetric(CandidatesIn(contenders)), margin);
}

TrialRow RowWithoutBlocks(const Contender& contender) {
  TrialRow row = Describe(contender);
  row.context = contender.state.in_all ? "with-others" : "alone";
  row.verdict = contender.state.verdict;
  AddReason(row.reason, contender.state.reason);
  return row;
}

CombinedRow RowOf(const std::vector<int>& members, std::span<const Contender> contenders) {
  CombinedRow row;
  for (const int member : members) row.treatments.push_back(contenders[member].candidate.Setting());
  const auto untold =
      std::ranges::count_if(members, [&](int member) { return CannotTell(contenders[member].state.loss); });
  if (untold > 0) row.reason = fmt::format("for {} of these it is unknown whether training stays the same", untold);
  return row;
}

void AddMeasured(const ExperimentPlan& plan, const Observations& observed, Metric step_metric, double margin,
                 std::string_view units, CombinedRow& row) {
  const std::vector<std::vector<double>> d{observed.Differences(plan.comparisons.front(), step_metric)};
  const double log_margin = std::log1p(margin);
  const Effect effect = plan.by_bets ? CompareByBets(d[0], log_margin) : CompareWithReference(d, log_margin)[0];
  row.n = effect.n;
  if (effect.method == Method::kTooFew) {
    row.reason = fmt::format("{} {} were run, {} are needed", effect.n, units, kFewestBlocks);
    if (!observed.ended_early.empty()) row.reason += ": " + observed.ended_early;
    return;
  }
  row.method = MethodName(effect.method);
  row.speedup = std::exp(-effect.estimate);
  if (effect.ci95) row.ci95 = std::array{std::exp(-effect.ci95->high), std::exp(-effect.ci95->low)};
}

}  // namespace loopscope
