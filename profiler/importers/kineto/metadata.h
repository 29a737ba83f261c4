// Metadata of a Kineto trace, beside "traceEvents": the machine, the rank, the clock.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

using KinetoMembers = std::vector<std::pair<std::string, std::string>>;  // key, raw JSON

// The offset to add to every time, in ns since 1970; 0 where the times already include it.
std::int64_t KinetoBaseNs(const KinetoMembers& members);

// Fills trace.run (ranks, GPUs, versions, when it started), names the devices, and notes as facts what was recorded.
// Malformed members are skipped.
void AddKinetoMetadata(const KinetoMembers& members, Trace& trace);

}  // namespace loopscope
