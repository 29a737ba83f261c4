// The pilots of the arms that are planned: each arm's own, after those that all fixes share.
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

// What is known of the plan's arms before their own pilots: an arm takes about as long as what it is compared with.
// `all_changed`: ALL's members differ from those of its pilot.
void GuessArms(const FixPilots& pilots, bool all_changed, ExperimentPlan& plan);

// The same after pairs of the baseline and ALL: how long their launches took in the middle. Pilots come first, on cold
// caches, and may take much longer.
void GuessFromPairs(const Observations& pairs, ExperimentPlan& plan);

// The pilots that are still to be made, and every arm's estimate for launches with the final window, which it chooses.
// A comparison whose arm fails gets the verdict "failed".
Result<void> RunArmPilots(const ExperimentInput& input, std::span<const Contender> contenders, FixPilots& pilots,
                          ExperimentPlan& plan, LaunchSeries& series);

}  // namespace loopscope
