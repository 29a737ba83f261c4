// The steps, the whole run and its lines in the JSON report, written and read.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/core/report/report.h"

namespace loopscope {

nlohmann::ordered_json StepsJson(const StepFacts& steps);
nlohmann::ordered_json WholeJson(const std::optional<WholeFacts>& whole);
// Paths inside `directory` are relative to it.
nlohmann::ordered_json LinesJson(const std::vector<LineRow>& lines, const std::string& directory);

StepFacts ReadSteps(const nlohmann::json& object);
std::optional<WholeFacts> ReadWhole(const nlohmann::json& object);
std::vector<LineRow> ReadLines(const nlohmann::json& report, const char* key);

}  // namespace loopscope
