// The report's row for several fixes together.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "profiler/core/report/trial.h"
#include "profiler/experiments/blocks.h"
#include "profiler/experiments/plan.h"
#include "profiler/experiments/prove/contender.h"

namespace loopscope {

// The row of these members (indices of contenders), and its reason where it is unknown whether some change training.
// Without a speedup.
CombinedRow RowOf(const std::vector<int>& members, std::span<const Contender> contenders);

// Adds the result of the plan's only comparison, of its second arm with the first; `units`: what blocks are
// called.
void AddMeasured(const ExperimentPlan& plan, const Observations& observed, Metric step_metric, double margin,
                 std::string_view units, CombinedRow& row);

}  // namespace loopscope
