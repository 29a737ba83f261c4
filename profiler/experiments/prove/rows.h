// The rows that a report has of the fixes.
#pragma once

#include <span>
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

}  // namespace loopscope
