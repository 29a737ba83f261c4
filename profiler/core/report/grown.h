// What took longer in one traced launch than in another: where to look after a gate has failed. One launch of each says
// nothing about noise, so nothing here is a verdict.
#pragma once

#include <vector>

#include "profiler/core/report/gate.h"
#include "profiler/core/report/report.h"

namespace loopscope {

// Parts of the step, then lines, then operators and kernels, each the largest growth first, at most five of each.
// Growth of less than 2 % of the earlier step or a tenth of its own time is left out. Lines are matched by file name,
// function and what runs there, since edits move them.
std::vector<GrownTime> WhatGrew(const Report& before, const Report& after);

}  // namespace loopscope
