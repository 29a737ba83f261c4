// What changed from one report to another.
#pragma once

#include "profiler/core/report/report.h"

namespace loopscope {

// Of `before` to `after`; names are left to the caller. Ops are compared when both reports hold a timeline with steady
// steps: those count that changed by at least 1 % of the longer step and, unless they appeared or vanished, by at least
// a tenth of their own time.
Comparison Compare(const Report& before, const Report& after);

}  // namespace loopscope
