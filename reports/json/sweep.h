// The "sweep" member of a report's JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "profiler/core/report/sweep.h"

namespace loopscope {

nlohmann::ordered_json SweepJson(const std::optional<SweepFacts>& sweep);

// Reads a member that is not null. Throws nlohmann::json::exception with the place when a field has the wrong type.
SweepFacts ReadSweep(const nlohmann::json& object);

}  // namespace loopscope
