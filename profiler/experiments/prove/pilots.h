// The pilots of fixes: they give the timings that the plan is made from, and show which fixes apply, which fail, and
// which fail only together.
#pragma once

#include <vector>

#include "profiler/core/result.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/fix_pilots.h"
#include "profiler/experiments/prove/input.h"

namespace loopscope {

// Baseline, ALL, and the values of treatments that offer several: the fastest in one launch each is kept. Bisects a
// failing ALL. Error (exit 4): the untreated program fails; (exit 3) interrupted.
Result<FixPilots> RunPilots(const ExperimentInput& input, std::vector<Contender>& contenders, LaunchSeries& series);

}  // namespace loopscope
