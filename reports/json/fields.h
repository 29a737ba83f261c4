// A struct's JSON members are listed once, for writing and for reading: a specialisation of JsonFields lists the
// members.
//
//   template <>
//   struct JsonFields<LaunchRow> {
//     template <class Fields, class Row>  // Row: LaunchRow, or const LaunchRow
//     static void List(Fields& fields, Row& row) {
//       fields("block", row.block);
//       fields("ms_per_step", row.ms_per_step);
//     }
//   };
//
// JsonWriter (writer.h) and JsonReader (reader.h) have the same functions for it. Written: numbers that are unknown or
// not finite are null. Read: a missing or null member keeps its value, except for enumerators; nlohmann's exceptions
// name the place of a missing or mistyped member.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace loopscope {

template <class Struct>
struct JsonFields;

namespace json_fields {

template <class Value>
inline constexpr bool kIsVector = false;
template <class Item>
inline constexpr bool kIsVector<std::vector<Item>> = true;
template <class Value>
inline constexpr bool kIsOptional = false;
template <class Value>
inline constexpr bool kIsOptional<std::optional<Value>> = true;

using Interval = std::array<double, 2>;  // [low, high]
// Types that nlohmann's library handles itself.
template <class Value>
inline constexpr bool kIsPlain = std::is_same_v<Value, std::string> || std::is_same_v<Value, bool> ||
                                 std::is_same_v<Value, std::map<std::string, std::string>>;

}  // namespace json_fields

}  // namespace loopscope
