// Values of the JSON report as its parts write them: what is unknown or not a number is null.
#pragma once

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace loopscope::json_values {

using Json = nlohmann::ordered_json;

inline Json NumberOrNull(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

inline Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

// [low, high]; null unless both ends are known.
inline Json Interval95(const std::optional<std::array<double, 2>>& ci95) {
  if (!ci95 || !std::isfinite((*ci95)[0]) || !std::isfinite((*ci95)[1])) return nullptr;
  return Json::array({(*ci95)[0], (*ci95)[1]});
}

}  // namespace loopscope::json_values
