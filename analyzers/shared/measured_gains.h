// Gains that the probes measured in the program itself, at the end of its run (wire::GainRecord).
#pragma once

#include <optional>
#include <string_view>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// Time with the change over time without it, for all measured work, each item weighted by how often the steps do it.
// Over 1: the change makes it slower. Absent: nothing was measured.
std::optional<double> MeasuredRatio(const Trace& trace, std::string_view change);

}  // namespace loopscope
