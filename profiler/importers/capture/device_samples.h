// What NVML reported about the devices while the program ran (marks kDeviceSample).
#pragma once

#include <string>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// One line for each device whose clock was throttled in at least a tenth of its samples: its times are not those at
// full speed, and differ from run to run.
std::vector<std::string> SlowedDevices(const Trace& trace);

}  // namespace loopscope
