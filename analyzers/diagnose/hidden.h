// Time of the host that a device hides.
#pragma once

#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// Of an analyzer whose costs are time of the training thread: where a device is busy, that time costs the loop nothing,
// or is itself a wait for the device's queue. A cost is at most the time for which devices are idle, and a finding of
// which less than 1 % of a step is left is clear. Where what the device did is not known, costs are bounds.
void LeaveOutHidden(const Timeline& timeline, std::vector<Finding>& findings);

}  // namespace loopscope
