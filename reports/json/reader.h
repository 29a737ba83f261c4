// Reads what JsonFields lists (fields.h).
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "profiler/core/json_members.h"
#include "profiler/core/trace/quality.h"
#include "reports/json/fields.h"

namespace loopscope {

class JsonReader {
 public:
  using Json = nlohmann::json;

  template <class Value>
  static void Into(const Json& json, Value& value) {
    if constexpr (json_fields::kIsVector<Value>) {
      if (json.is_null()) return;
      for (const Json& item : json.get_ref<const Json::array_t&>()) {
        value.push_back(Item<typename Value::value_type>(item));
      }
    } else if constexpr (json_fields::kIsOptional<Value>) {
      if (!json.is_null()) Into(json, value.emplace());
    } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
      if (!json.is_null()) value = json_members::WholeOf<Value>(json);
    } else if constexpr (std::is_floating_point_v<Value> || json_fields::kIsPlain<Value> ||
                         std::is_same_v<Value, json_fields::Interval>) {
      if (!json.is_null()) value = json.get<Value>();
    } else {
      JsonReader inside(json);
      JsonFields<Value>::List(inside, value);
    }
  }

  template <class Value>
  void operator()(std::string_view key, Value& value) {
    Into(Member(key), value);
  }
  void TextOrNull(std::string_view key, std::string& text) { Into(Member(key), text); }
  template <class Value>
  void If(bool /*known*/, std::string_view key, Value& value) {
    Into(Member(key), value);
  }
  template <class Value>
  void Given(std::string_view key, std::optional<Value>& value) {
    Into(Member(key), value);
  }
  template <class Enum>
  void Named(std::string_view key, Enum& value, std::string_view (*name)(Enum), Enum last) {
    value = json_members::Named(object_, key, name, last);
  }
  template <class Enum>
  void NamedIfGiven(std::string_view key, Enum& value, std::string_view (*name)(Enum), Enum last) {
    if (!Member(key).is_null()) Named(key, value, name, last);
  }
  void Path(std::string_view key, std::string& path) { Into(Member(key), path); }
  void Source(std::string_view /*key*/) {}
  template <class Value>
  void IfWithWholePaths(bool /*known*/, std::string_view key, Value& value) {
    Into(Member(key), value);
  }
  template <class List>
  void Object(std::string_view key, List list) {
    JsonReader inside(Member(key));
    list(inside);
  }
  template <class Make>
  void Derived(std::string_view /*key*/, Make /*make*/) {}
  template <class Say, class Take>
  void Text(std::string_view key, Say /*say*/, Take take) {
    std::string text;
    Into(Member(key), text);
    take(text);
  }

 private:
  explicit JsonReader(const Json& object) : object_(object) {}

  const Json& Member(std::string_view key) const { return json_members::Member(object_, key); }

  // An unknown number among others is not a number.
  template <class Value>
  static Value Item(const Json& json) {
    if constexpr (std::is_same_v<Value, Warning>) {
      return Warning(json.get<std::string>());
    } else if constexpr (json_fields::kIsPlain<Value>) {
      return json.get<Value>();
    } else {
      Value value{};
      if constexpr (std::is_floating_point_v<Value>) value = std::numeric_limits<Value>::quiet_NaN();
      Into(json, value);
      return value;
    }
  }

  const Json& object_;
};

}  // namespace loopscope
