// Writes what JsonFields lists (fields.h).
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "profiler/core/report/finding.h"
#include "reports/json/fields.h"

namespace loopscope {

class JsonWriter {
 public:
  using Json = nlohmann::ordered_json;

  template <class Value>
  static Json Of(const Value& value) {
    return JsonWriter().Written(value);
  }
  // Places inside the run's working directory are written relative to it.
  template <class Value>
  static Json Of(const Value& value, const RunInfo& run) {
    return JsonWriter(&run).Written(value);
  }

  template <class Value>
  void operator()(std::string_view key, const Value& value) {
    Put(key, Written(value));
  }
  // Null where it is empty.
  void TextOrNull(std::string_view key, const std::string& text) { Put(key, text.empty() ? Json() : Json(text)); }
  // Null where it is not known.
  template <class Value>
  void If(bool known, std::string_view key, const Value& value) {
    Put(key, known ? Written(value) : Json());
  }
  // Left out where it is not known.
  template <class Value>
  void Given(std::string_view key, const std::optional<Value>& value) {
    if (value) Put(key, Written(*value));
  }
  template <class Enum>
  void Named(std::string_view key, Enum value, std::string_view (*name)(Enum), Enum /*last*/) {
    Put(key, std::string(name(value)));
  }
  // Older files do not have it.
  template <class Enum>
  void NamedIfGiven(std::string_view key, Enum value, std::string_view (*name)(Enum), Enum last) {
    Named(key, value, name, last);
  }
  void Path(std::string_view key, const std::string& path) {
    Put(key, run_ != nullptr ? RelativePath(path, run_->working_directory) : path);
  }
  // What made the trace that the run was read from.
  void Source(std::string_view key) { Put(key, run_ != nullptr ? Json(run_->source) : Json()); }
  // Null if unknown; all places as they are.
  template <class Value>
  void IfWithWholePaths(bool known, std::string_view key, const Value& value) {
    Put(key, known ? Of(value) : Json());
  }
  // An object within this one, whose members `list(fields)` gives.
  template <class List>
  void Object(std::string_view key, List list) {
    JsonWriter inside(run_);
    list(inside);
    Put(key, std::move(inside.object_));
  }
  // Derived from other members; not read back.
  template <class Make>
  void Derived(std::string_view key, Make make) {
    Put(key, Written(make()));
  }
  // One text that encodes several members.
  template <class Say, class Take>
  void Text(std::string_view key, Say say, Take /*take*/) {
    Put(key, std::string(say()));
  }

 private:
  explicit JsonWriter(const RunInfo* run = nullptr) : run_(run) {}

  void Put(std::string_view key, Json value) { object_[std::string(key)] = std::move(value); }

  template <class Value>
  Json Written(const Value& value) {
    if constexpr (json_fields::kIsOptional<Value>) {
      return value ? Written(*value) : Json();
    } else if constexpr (json_fields::kIsVector<Value>) {
      Json items = Json::array();
      for (const auto& item : value) items.push_back(Written(item));
      return items;
    } else if constexpr (std::is_same_v<Value, json_fields::Interval>) {
      return std::isfinite(value[0]) && std::isfinite(value[1]) ? Json::array({value[0], value[1]}) : Json();
    } else if constexpr (std::is_floating_point_v<Value>) {
      return std::isfinite(value) ? Json(value) : Json();
    } else if constexpr (std::is_same_v<Value, Warning>) {
      return value.text;
    } else if constexpr (std::is_integral_v<Value> || json_fields::kIsPlain<Value>) {
      return value;
    } else {
      JsonWriter inside(run_);
      JsonFields<Value>::List(inside, value);
      return std::move(inside.object_);
    }
  }

  const RunInfo* run_;
  Json object_ = Json::object();
};

}  // namespace loopscope
