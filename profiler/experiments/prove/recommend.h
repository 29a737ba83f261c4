// The recommended set: the fixes that help, measured together on launches that were not used for the selection.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "profiler/core/report/report.h"
#include "profiler/experiments/blocks.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/input.h"

namespace loopscope {

// Indices of contenders whose rows (in the plan's order) are "faster", or "useful" without being slower, in the context
// of the others; of those that fail with the others one is recommended, only when nothing else is.
std::vector<int> RecommendedSet(const ExperimentPlan& plan, std::span<const TrialRow> rows);

// If ALL is faster than none: indices of its members, without those shown to bring nothing or to harm. Undecided ones
// stay, since they were part of the measured set.
std::vector<int> KeptOfAll(const ExperimentPlan& plan, std::span<const TrialRow> rows,
                           std::span<const Contender> contenders);

// Fresh blocks of baseline and recommended set: the winners of the first blocks won partly by chance. At least
// four, at most as many as the experiment had, within the budget. None when nothing is recommended (`members` is
// empty).
std::optional<CombinedRow> MeasureRecommended(const ExperimentInput& input, const ExperimentPlan& plan,
                                              const std::vector<int>& members, std::span<const Contender> contenders,
                                              LaunchSeries& series);

}  // namespace loopscope
