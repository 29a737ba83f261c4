// What an experiment says about a finding.
#pragma once

#include "profiler/core/report/report.h"

namespace loopscope {

// The finding's treatment was measured and brought nothing, or made the loop slower.
bool MeasuredWithoutGain(const Report& report, const Finding& finding);

}  // namespace loopscope
