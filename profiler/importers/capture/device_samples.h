// What NVML reported about the devices while the program ran (marks kDeviceSample).
#pragma once

#include <string>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// One line for each device whose clock was throttled in a tenth or more of its samples: its times are not those of a
// device at full speed, and differ from run to run.
std::vector<std::string> SlowedDevices(const Trace& trace);

}  // namespace loopscope
