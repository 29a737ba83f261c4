// What an experiment says of a finding.
#pragma once

#include "profiler/core/report/report.h"

namespace loopscope {

// The measured comparisons of what cures the finding brought nothing, or made the loop slower.
bool MeasuredWithoutGain(const Report& report, const Finding& finding);

}  // namespace loopscope
