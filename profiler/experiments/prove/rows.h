// The rows that a report has of the fixes: of each, and of several together.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "profiler/core/report/trial.h"
#include "profiler/experiments/blocks.h"
#include "profiler/experiments/plan.h"
#include "profiler/experiments/prove/contender.h"

namespace loopscope {

// One row per planned comparison, in the plan's order: see JudgeComparisons.
std::vector<TrialRow> JudgeFixes(const ExperimentPlan& plan, const Observations& observed,
                                 std::span<const Contender> contenders, double margin);

// The row of a fix that did not reach the blocks.
TrialRow RowWithoutBlocks(const Contender& contender);

// The row of these members (indices of contenders), and its reason where it is unknown whether some change training.
// Without a speedup.
CombinedRow RowOf(const std::vector<int>& members, std::span<const Contender> contenders);

// Adds the result of the plan's only comparison, of its second arm with the first; `units`: what blocks are
// called.
void AddMeasured(const ExperimentPlan& plan, const Observations& observed, Metric step_metric, double margin,
                 std::string_view units, CombinedRow& row);

}  // namespace loopscope
