// The "compare" member of a report's JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "profiler/core/report/comparison.h"

namespace loopscope {

nlohmann::ordered_json CompareJson(const std::optional<Comparison>& compare);

// Reads a member that is not null. Throws nlohmann::json::exception with the place when a field has the wrong type.
Comparison ReadCompare(const nlohmann::json& object);

}  // namespace loopscope
