// `sweep`: launches every cell of a grid in random blocks, picks the quickest, and compares it with its neighbours on
// fresh blocks, since selection biases its time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/launch.h"
#include "profiler/core/report/report.h"
#include "profiler/core/report/sweep.h"
#include "profiler/core/result.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/options.h"
#include "profiler/experiments/sweep/plan.h"

namespace loopscope {

// Fills report.sweep, plan and noise. Errors: the program as it is fails (exit 4); it cannot be measured so (exit 3);
// the journal belongs to another plan (exit 2); interrupted before anything was measured (exit 3).
Result<void> RunSweep(const SweepInput& input, const Launcher& launcher, const ExperimentEvents& events,
                      Report& report);

// The pilots of a sweep, which show which cells can be measured.

// A pilot launch of the unchanged program and of each cell; the last cells are left out if the budget would not hold a
// block of the grid and the fewest fresh blocks after them. Fills the cells: verdicts of those that are out, and which
// one equals the unchanged program; if none does, that becomes one more cell. The plan has no blocks yet.
Result<SweepPlan> RunSweepPilots(const SweepInput& input, SweepFacts& sweep, LaunchSeries& series);

// The best cell, and whether it is better than its `neighbours` (indices of cells).
void SaySweep(const std::vector<int>& neighbours, SweepFacts& sweep);

}  // namespace loopscope
