// Reads optional members of a JSON object. Errors are nlohmann's exceptions and name the place.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loopscope::json_members {

using nlohmann::json;

// The member, or null when there is none. Objects only: anything else is an error that names the place.
inline const json& Member(const json& object, std::string_view key) {
  static const json kNull;
  if (object.is_null()) return kNull;
  const auto& members = object.get_ref<const json::object_t&>();
  const auto member = members.find(key);
  return member == members.end() ? kNull : member->second;
}

inline std::string Text(const json& object, std::string_view key) {
  const json& member = Member(object, key);
  return member.is_null() ? "" : member.get<std::string>();
}

inline std::optional<double> Number(const json& object, std::string_view key) {
  const json& member = Member(object, key);
  if (member.is_null()) return std::nullopt;
  return member.get<double>();
}

// Clamped, so that a value from a file cannot overflow.
template <class Integer>
Integer WholeOf(const json& number) {
  if (number.is_number_unsigned()) {
    const auto value = number.get<std::uint64_t>();
    return static_cast<Integer>(std::min<std::uint64_t>(value, std::numeric_limits<Integer>::max()));
  }
  const double value = std::trunc(number.get<double>());
  if (value <= static_cast<double>(std::numeric_limits<Integer>::min())) return std::numeric_limits<Integer>::min();
  if (value >= static_cast<double>(std::numeric_limits<Integer>::max())) return std::numeric_limits<Integer>::max();
  return static_cast<Integer>(value);
}

template <class Integer>
Integer Whole(const json& object, std::string_view key, Integer unknown = 0) {
  const json& member = Member(object, key);
  return member.is_null() ? unknown : WholeOf<Integer>(member);
}

inline bool Flag(const json& object, std::string_view key) {
  const json& member = Member(object, key);
  return !member.is_null() && member.get<bool>();
}

inline const json::array_t& Items(const json& object, std::string_view key) {
  static const json::array_t kEmpty;
  const json& member = Member(object, key);
  return member.is_null() ? kEmpty : member.get_ref<const json::array_t&>();
}

inline std::vector<std::string> Texts(const json& object, std::string_view key) {
  std::vector<std::string> texts;
  for (const json& item : Items(object, key)) texts.push_back(item.get<std::string>());
  return texts;
}

// The enumerator whose `name` is this text; if there is none, an error that names the place.
template <class Enum>
Enum Named(const json& object, std::string_view key, std::string_view (*name)(Enum), Enum last) {
  const std::string text = Text(object, key);
  for (int value = 0; value <= static_cast<int>(last); ++value) {
    if (name(static_cast<Enum>(value)) == text) return static_cast<Enum>(value);
  }
  throw json::other_error::create(501, "\"" + text + "\" is not a known " + std::string(key), &object);
}

}  // namespace loopscope::json_members
