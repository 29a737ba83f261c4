// The pilots of fixes: they give the timings that the plan is made from, and show which fixes apply, which fail, and
// which fail only together.
#pragma once

#include <vector>

#include "profiler/core/result.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/input.h"
#include "profiler/experiments/prove/together.h"

namespace loopscope {

// Baseline, ALL, and the values of treatments that offer several: the fastest in one launch each is kept. Bisects a
// failing ALL. Error (exit 4): the untreated program fails; (exit 3) interrupted.
Result<FixPilots> RunPilots(const ExperimentInput& input, std::vector<Contender>& contenders, LaunchSeries& series);

// Chooses the value of a fix that gets blocks: one launch of ALL for each value.

// Leaves each contender in ALL one value, the fastest of those that the budget allowed, or none: not applicable.
// pilots.all is a launch of ALL with the first values, and in the end one of it with the values that were
// chosen.
void ScreenValues(const ExperimentInput& input, std::vector<Contender>& contenders, Together& together,
                  LaunchSeries& series, FixPilots& pilots);

}  // namespace loopscope
