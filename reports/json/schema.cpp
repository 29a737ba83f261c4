#include "reports/json/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/core/json_members.h"

namespace loopscope {

Error NotOfKind(std::string what, const JsonKind& kind) {
  return {std::move(what), "", std::string(kind.next)};
}

std::optional<Error> CheckSchema(const nlohmann::json& object, const JsonKind& kind) {
  if (!object.is_object()) return NotOfKind(fmt::format("not {}: the JSON is not an object", kind.what), kind);
  const nlohmann::json& schema = json_members::Member(object, "schema");
  const std::string text = schema.is_string() ? schema.get<std::string>() : "";
  const std::string version = text.starts_with(kind.prefix) ? text.substr(kind.prefix.size()) : "";
  if (version.empty() || version.find_first_not_of("0123456789") != version.npos) {
    return NotOfKind(fmt::format("not {}: no \"schema\": \"{}N\"", kind.what, kind.prefix), kind);
  }
  if (version.size() > 6 || std::stoi(version) > kind.version) {
    return Error{fmt::format("its schema {}{} is newer than {}{}, the newest known here", kind.prefix,
                             version.substr(0, 20), kind.prefix, kind.version),
                 "", "read it with the Loopscope that wrote it, or a newer one"};
  }
  return std::nullopt;
}

Error JsonErrorOf(const nlohmann::json::exception& error, const JsonKind& kind) {
  if (const auto* parse = dynamic_cast<const nlohmann::json::parse_error*>(&error)) {
    return NotOfKind(fmt::format("not JSON, or cut short (at byte {})", parse->byte), kind);
  }
  const std::string message = error.what();  // "[json.exception.type_error.302] (/steps/mean_ms) type must be …"
  return NotOfKind(
      "a field is not as the schema says: " + message.substr(std::min(message.find("] ") + 2, message.size())), kind);
}

}  // namespace loopscope
