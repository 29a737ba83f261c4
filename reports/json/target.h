// The "target" member of a report's JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "profiler/core/report/target.h"

namespace loopscope {

nlohmann::ordered_json TargetJson(const std::optional<TargetFacts>& facts);

// Reads a member that is not null. Throws nlohmann::json::exception with the place when a field has the wrong type.
TargetFacts ReadTarget(const nlohmann::json& object);

}  // namespace loopscope
