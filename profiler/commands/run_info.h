// What is written down about a run before it starts.
#pragma once

#include <string>
#include <vector>

#include "profiler/commands/launch_environment.h"
#include "profiler/core/trace.h"

namespace loopscope {

// This machine, this moment and this working folder; the recorded part of `environment`.
RunInfo RunInfoOf(const std::vector<std::string>& command, const Environment& environment);

}  // namespace loopscope
