// `prove --quick`: a single launch of live pairs.
#pragma once

#include "profiler/core/report/report.h"
#include "profiler/experiments/events.h"
#include "profiler/experiments/prove/input.h"

namespace loopscope {

inline constexpr int kQuickAlone = 3;  // fixes that are compared alone too, the costliest first

// Fills the report's trials, plan and noise. Errors as RunExperiment.
Result<void> RunQuick(const ExperimentInput& input, const Launcher& launcher, const ExperimentEvents& events,
                      Report& report);

}  // namespace loopscope
