// The arms of `prove` (baseline, ALL, ALL without each fix, the costliest fixes alone) and their pilots.
#pragma once

#include <span>
#include <vector>

#include "profiler/core/result.h"
#include "profiler/experiments/blocks.h"
#include "profiler/experiments/candidates.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/plan.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/input.h"
#include "profiler/experiments/prove/pilots.h"

namespace loopscope {

// All of them. `in_all[i]`: candidate i works together with the others; the others are measured alone. An arm with the
// same settings as another is not made twice: with two fixes, ALL without one is the other alone. The comparisons'
// subjects are indices of candidates.
ExperimentPlan PlanArms(std::span<const Candidate> candidates, const std::vector<bool>& in_all, int alone);

// Estimates for the plan's arms before their own pilots: an arm takes about as long as its reference.
// `all_changed`: ALL's members differ from those of its pilot.
void GuessArms(const FixPilots& pilots, bool all_changed, ExperimentPlan& plan);

// The same after pairs of the baseline and ALL: the median of their launches. Pilots run first, with cold caches, and
// may take much longer.
void GuessFromPairs(const Observations& pairs, ExperimentPlan& plan);

// Launches the missing pilots, chooses the final window, and estimates every arm's launches with it.
// A comparison whose arm fails gets the verdict "failed".
Result<void> RunArmPilots(const ExperimentInput& input, std::span<const Contender> contenders, FixPilots& pilots,
                          ExperimentPlan& plan, LaunchSeries& series);

}  // namespace loopscope
