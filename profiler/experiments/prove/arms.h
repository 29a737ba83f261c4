// The arms of `prove`: baseline, ALL, ALL without each fix, and the costliest fixes alone.
#pragma once

#include <span>
#include <vector>

#include "profiler/experiments/candidates.h"
#include "profiler/experiments/plan.h"

namespace loopscope {

// All of them. `in_all[i]`: candidate i works together with the others; the others are measured alone. An arm with the
// same settings as another is not made twice: with two fixes, ALL without one is the other alone. The comparisons'
// subjects are indices of candidates.
ExperimentPlan PlanArms(std::span<const Candidate> candidates, const std::vector<bool>& in_all, int alone);

}  // namespace loopscope
