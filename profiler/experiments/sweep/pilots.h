// The pilots of a sweep, which show which cells can be measured.
#pragma once

#include "profiler/core/report/sweep.h"
#include "profiler/core/result.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/sweep/input.h"
#include "profiler/experiments/sweep/plan.h"

namespace loopscope {

// A pilot launch of the unchanged program and of each cell; the last cells are left out if the budget would not hold a
// block of the grid and the fewest fresh blocks after them. Fills the cells: verdicts of those that are out, and which
// one equals the unchanged program; if none does, that becomes one more cell. The plan has no blocks yet.
Result<SweepPlan> RunSweepPilots(const SweepInput& input, SweepFacts& sweep, LaunchSeries& series);

}  // namespace loopscope
