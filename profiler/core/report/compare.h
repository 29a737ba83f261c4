// What changed from one report to another.
#pragma once

#include "profiler/core/report/report.h"

namespace loopscope {

// Compares `before` with `after`; names are left to the caller. Ops are compared when both reports hold a timeline with
// steady steps: an op counts if it changed by at least 1 % of the longer step and, unless it appeared or vanished, by
// at least a tenth of its own time.
Comparison Compare(const Report& before, const Report& after);

}  // namespace loopscope
