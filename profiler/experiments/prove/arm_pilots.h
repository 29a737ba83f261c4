// The pilots of the planned arms, after the pilots of all fixes together.
#pragma once

#include <span>

#include "profiler/core/result.h"
#include "profiler/experiments/blocks.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/plan.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/input.h"
#include "profiler/experiments/prove/pilots.h"

namespace loopscope {

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
