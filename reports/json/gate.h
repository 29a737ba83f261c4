// The "gate" member of a report's JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "profiler/core/report/gate.h"

namespace loopscope {

nlohmann::ordered_json GateJson(const std::optional<GateFacts>& gate);

// Reads a member that is not null. Throws nlohmann::json::exception with the place when a field has the wrong type.
GateFacts ReadGate(const nlohmann::json& object);

}  // namespace loopscope
