// The "run" member of a report's JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/core/trace/trace.h"

namespace loopscope {

nlohmann::ordered_json RunJson(const RunInfo& run);

// Throws nlohmann::json::exception with the place when a field has the wrong type.
RunInfo ReadRun(const nlohmann::json& object);

}  // namespace loopscope
