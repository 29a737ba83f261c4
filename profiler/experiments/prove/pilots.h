// The pilots of fixes: they give the timings that the plan is made from, and show which fixes apply, which fail, and
// which fail only together.
#pragma once

#include <vector>

#include "profiler/core/result.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/pilots.h"
#include "profiler/experiments/prove/contender.h"
#include "profiler/experiments/prove/input.h"

namespace loopscope {

struct FixPilots {
  LaunchResult baseline, all;  // `all` has the members that work together
  PilotRun run;                // for the pilots of the other arms
};

// Seconds spent, up to which other launches leave the budget what the fewest pairs of the baseline and ALL need that
// give a verdict; the whole budget where a number of blocks is asked for.
double MayBeSpentBeforePairs(const ExperimentInput& input, const FixPilots& pilots);

// Baseline, ALL, and the values of treatments that offer several: the fastest in one launch each is kept. A failing ALL
// is bisected. Error (exit 4): the untreated program fails; (exit 3) interrupted.
Result<FixPilots> RunPilots(const ExperimentInput& input, std::vector<Contender>& contenders, LaunchSeries& series);

}  // namespace loopscope
