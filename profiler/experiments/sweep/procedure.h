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
#include "profiler/experiments/events.h"
#include "profiler/experiments/sweep/input.h"

namespace loopscope {

// Fills report.sweep, plan and noise. Errors: the program as it is fails (exit 4); it cannot be measured so (exit 3);
// the journal belongs to another plan (exit 2); interrupted before anything was measured (exit 3).
Result<void> RunSweep(const SweepInput& input, const Launcher& launcher, const ExperimentEvents& events,
                      Report& report);

}  // namespace loopscope
