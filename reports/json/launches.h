// Launches in a report's JSON: those of a trial, and those of a gate.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "profiler/core/report/trial.h"

namespace loopscope {

nlohmann::ordered_json LaunchesJson(const std::vector<LaunchRow>& launches);

// Reads the object's member "launches". Throws nlohmann::json::exception with the place when it has the wrong type.
std::vector<LaunchRow> ReadLaunches(const nlohmann::json& object);

}  // namespace loopscope
