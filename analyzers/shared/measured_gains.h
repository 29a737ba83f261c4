// What the probes measured of a change in the program itself, when its run ended (wire::GainRecord).
#pragma once

#include <optional>
#include <string_view>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// How long the work takes with the change, as a multiple of how long it takes without: over all that was tried, each as
// often as the steps do it. Over 1: the change makes it slower. Absent: nothing was measured.
std::optional<double> MeasuredRatio(const Trace& trace, std::string_view change);

}  // namespace loopscope
