// What a sweep says in one sentence.
#pragma once

#include <vector>

#include "profiler/core/report/sweep.h"

namespace loopscope {

// What became of the best cell, and whether it stands out from its `neighbours` (indices of cells).
void SaySweep(const std::vector<int>& neighbours, SweepFacts& sweep);

}  // namespace loopscope
