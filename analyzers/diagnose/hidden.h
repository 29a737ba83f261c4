// Host time that is hidden behind a busy device.
#pragma once

#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// For an analyzer whose costs are training-thread time: while a device is busy, that time costs the loop nothing, or is
// itself a wait for the device's queue. Caps costs at the devices' idle time; a finding with less than 1 % of a step
// left is clear. If the device's work is unknown, costs are bounds.
void LeaveOutHidden(const Timeline& timeline, std::vector<Finding>& findings);

}  // namespace loopscope
