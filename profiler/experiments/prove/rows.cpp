#include "profiler/experiments/prove/rows.h"

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

}  // namespace loopscope
