// What changed from one report to another.
#pragma once

#include <vector>

#include "profiler/core/report/gate.h"
#include "profiler/core/report/report.h"

namespace loopscope {

// Compares `before` with `after`; names are left to the caller. Ops are compared when both reports hold a timeline with
// steady steps: an op counts if it changed by at least 1 % of the longer step and, unless it appeared or vanished, by
// at least a tenth of its own time.
Comparison Compare(const Report& before, const Report& after);

// What took longer in one traced launch than in another: where to look after a gate has failed. One launch of each says
// nothing about noise, so nothing here is a verdict.

// Parts of the step, then lines, then operators and kernels, each the largest growth first, at most five of each.
// Growth of less than 2 % of the earlier step or a tenth of its own time is left out. Lines are matched by file name,
// function and what runs there, since edits move them.
std::vector<GrownTime> WhatGrew(const Report& before, const Report& after);

}  // namespace loopscope
