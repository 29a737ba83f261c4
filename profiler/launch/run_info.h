// Facts recorded about a run before it starts.
#pragma once

#include <string>
#include <vector>

#include "profiler/core/trace/trace.h"
#include "profiler/launch/launch_environment.h"

namespace loopscope {

// This machine, this moment and this working folder; the recorded part of `environment`.
RunInfo RunInfoOf(const std::vector<std::string>& command, const Environment& environment);

}  // namespace loopscope
