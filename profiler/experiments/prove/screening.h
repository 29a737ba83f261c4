// Which of the values of a fix is worth blocks: one launch of ALL for each.
#pragma once

#include <vector>

#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/fix_pilots.h"
#include "profiler/experiments/prove/input.h"
#include "profiler/experiments/prove/together.h"

namespace loopscope {

// Leaves each contender that runs with the others one value, the fastest of those that there is time for, or none: not
// applicable. pilots.all is a launch of ALL with the first values, and in the end one of it with the values that were
// chosen.
void ScreenValues(const ExperimentInput& input, std::vector<Contender>& contenders, Together& together,
                  LaunchSeries& series, FixPilots& pilots);

}  // namespace loopscope
