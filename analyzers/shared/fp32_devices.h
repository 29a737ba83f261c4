// The rule fp32-compute on a GPU, where kernel names show the type of their operands.
#pragma once

#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// `timeline` has devices. At least 20 % of the step in float32 products and convolutions is a finding.
std::vector<Finding> JudgeFp32OnDevices(const Timeline& timeline);

}  // namespace loopscope
