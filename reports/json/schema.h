// Reads JSON whose first member is its schema: "loopscope.report/1".
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/core/result.h"

namespace loopscope {

struct JsonKind {
  std::string_view prefix;  // the schema's prefix: "loopscope.report/"
  int version = 1;          // the newest known here
  std::string_view what;    // "a Loopscope report"
  std::string_view next;    // advice if it is something else
};

// Empty when the schema can be read.
std::optional<Error> CheckSchema(const nlohmann::json& object, const JsonKind& kind);
Error NotOfKind(std::string what, const JsonKind& kind);
// Translates nlohmann's exceptions: not JSON or cut short, or a mistyped field, named by its JSON pointer.
Error JsonErrorOf(const nlohmann::json::exception& error, const JsonKind& kind);

template <class Value, class Read>
Result<Value> ReadJson(std::string_view text, const JsonKind& kind, Read read) {
  try {
    const nlohmann::json object = nlohmann::json::parse(text);
    if (std::optional<Error> error = CheckSchema(object, kind)) return *error;
    return read(object);
  } catch (const nlohmann::json::exception& error) {
    return JsonErrorOf(error, kind);
  }
}

}  // namespace loopscope
