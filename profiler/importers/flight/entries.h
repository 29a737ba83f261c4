// The collectives that a rank entered, out of a flight recorder's dump or of NCCL Inspector's lines.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// From PyTorch's flight recorder: {"version": …, "pg_config": {…}, "entries": [{…}]}. Entries that are not objects
// count as dropped.
Trace TraceOfFlightDump(const nlohmann::json& dump);

// One JSON object a line, as NCCL's plugin "inspector" writes them. Lines that cannot be read count as dropped.
Trace TraceOfInspectorLines(std::string_view text);

// The fact that holds the ranks of a process group: "0,1,2".

}  // namespace loopscope
