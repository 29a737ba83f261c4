// The check launches of an experiment: the fewest that show whether each fix still trains the same thing.
#pragma once

#include <vector>

#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/input.h"
#include "profiler/experiments/prove/pilots.h"

namespace loopscope {

// Sets every living fix's loss facts; one that trains something else gets the verdict "different-training".
//
// Fixes that must keep every bit are checked all at once: if the losses with all of them equal the untreated ones, this
// proves each of them, and that the program repeats itself. Otherwise each is launched on top of the untreated
// program. Numeric and resampled fixes are launched on top of what was proved identical (it is often much faster). When
// two untreated launches differ, six of them and several treated ones are compared by permutation, if a quarter of the
// budget holds that many. So is a resampled fix whose random numbers the program does not fix, with another seed for
// every launch. Launches that would leave too little budget for the first pairs of ALL are skipped: "cannot tell".
void CheckTraining(const ExperimentInput& input, std::vector<Contender>& contenders, const FixPilots& pilots,
                   LaunchSeries& series);

}  // namespace loopscope
