// Results of the fixes' pilots, and how much time they may spend.
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

// Spent seconds up to which other launches leave time for the fewest `pairs` of the baseline and ALL that give a
// verdict; the whole budget if a number of blocks was given.
double MayBeSpentBeforePairs(const ExperimentInput& input, const FixPilots& pilots, int pairs = kFewestBlocks);

// Whether `launches` more like ALL, and the fewest check launches, leave time for such pairs.
bool HasTimeBeforePairs(const ExperimentInput& input, const FixPilots& pilots, const LaunchSeries& series,
                        std::size_t launches);

}  // namespace loopscope
