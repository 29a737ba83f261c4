// Checks before anything is launched: whether the probes reach the program, and whether it can be rerun.
#pragma once

#include <vector>

#include "profiler/containment/containment.h"
#include "profiler/core/result.h"
#include "profiler/launch/launcher.h"

namespace loopscope {

// Launches could change real files, which are listed (exit 2).
Error Exposed(const Containment& containment);

// A run goes on unobserved, with a message. Errors of `trials`: the program cannot be observed (exit 3), or not be
// started again (exit 2).
Result<void> CheckReach(const std::vector<Side>& sides, bool trials);

}  // namespace loopscope
