// A sweep's result in one sentence.
#pragma once

#include <vector>

#include "profiler/core/report/sweep.h"

namespace loopscope {

// The best cell, and whether it is better than its `neighbours` (indices of cells).
void SaySweep(const std::vector<int>& neighbours, SweepFacts& sweep);

}  // namespace loopscope
