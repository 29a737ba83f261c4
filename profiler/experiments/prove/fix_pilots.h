// What the pilots of fixes showed, and what they may spend.
#pragma once

#include <cstddef>

#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/pilots.h"
#include "profiler/experiments/prove/input.h"

namespace loopscope {

struct FixPilots {
  LaunchResult baseline, all;  // `all` has the members that work together
  PilotRun run;                // for the pilots of the other arms
};

// Seconds spent, up to which other launches leave the budget what `pairs` of the baseline and ALL need, the fewest that
// give a verdict; the whole budget where a number of blocks is asked for.
double MayBeSpentBeforePairs(const ExperimentInput& input, const FixPilots& pilots, int pairs = kFewestBlocks);

// Whether `launches` more like ALL, and the fewest that compare losses, leave time for such pairs.
bool HasTimeBeforePairs(const ExperimentInput& input, const FixPilots& pilots, const LaunchSeries& series,
                        std::size_t launches);

}  // namespace loopscope
