// `prove`: launches a program many times in random blocks and measures what each fix gains. All launches go through a
// Launcher, so that tests run without a clock.
#pragma once

#include "profiler/core/launch.h"
#include "profiler/core/report/report.h"
#include "profiler/core/result.h"
#include "profiler/experiments/options.h"
#include "profiler/experiments/prove/input.h"

namespace loopscope {

// Fills report.trials, combined, noise and plan. Errors: the untreated program fails (exit 4); the journal belongs to
// another plan or cannot be written (exit 2); interrupted before anything was measured (exit 3).
Result<void> RunExperiment(const ExperimentInput& input, const Launcher& launcher, const ExperimentEvents& events,
                           Report& report);

// `prove --quick`: a single launch of live pairs.
inline constexpr int kQuickAlone = 3;  // fixes that are compared alone too, the costliest first

// Fills the report's trials, plan and noise. Errors as RunExperiment.
Result<void> RunQuick(const ExperimentInput& input, const Launcher& launcher, const ExperimentEvents& events,
                      Report& report);

}  // namespace loopscope
