// Chooses the value of a fix that gets blocks: one launch of ALL for each value.
#pragma once

#include <vector>

#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/fix_pilots.h"
#include "profiler/experiments/prove/input.h"
#include "profiler/experiments/prove/together.h"

namespace loopscope {

// Leaves each contender in ALL one value, the fastest of those that the budget allowed, or none: not applicable.
// pilots.all is a launch of ALL with the first values, and in the end one of it with the values that were
// chosen.
void ScreenValues(const ExperimentInput& input, std::vector<Contender>& contenders, Together& together,
                  LaunchSeries& series, FixPilots& pilots);

}  // namespace loopscope
