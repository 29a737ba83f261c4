// What stands beside "traceEvents" in a Kineto trace: the machine, the rank, the clock.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

using KinetoMembers = std::vector<std::pair<std::string, std::string>>;  // key, raw JSON

// What is added to every time, in ns since 1970; 0 where the times hold it already.
std::int64_t KinetoBaseNs(const KinetoMembers& members);

// Fills trace.run (ranks, GPUs, versions, when it started), names the devices, and notes as facts what was recorded.
// A member that is malformed is passed over.
void AddKinetoMetadata(const KinetoMembers& members, Trace& trace);

}  // namespace loopscope
