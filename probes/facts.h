// The keys of facts recorded once about a run (facts.def), for writers and readers.
#pragma once

#include <string_view>

namespace loopscope::facts {

enum class Type { kNumber, kText, kSwitch, kPlace, kList };

struct Row {
  std::string_view key;
  Type type;
  std::string_view unit, writer, reader;
};

inline constexpr Row kRows[] = {
#define LOOPSCOPE_FACT(key, type, unit, writer, reader) {key, Type::type, unit, writer, reader},
#include "probes/facts.def"
#undef LOOPSCOPE_FACT
};

constexpr const Row* Find(std::string_view key) {
  for (const Row& row : kRows) {
    if (row.key == key) return &row;
  }
  return nullptr;
}

// A key of the list: others do not compile.
struct Key {
  std::string_view text;
  consteval Key(const char* key) : text(key) {
    if (Find(text) == nullptr) throw "facts.def has no such fact";
  }
};

// A key whose value is a number.
struct NumberKey {
  std::string_view text;
  consteval NumberKey(const char* key) : text(key) {
    if (Find(text) == nullptr || Find(text)->type != Type::kNumber) throw "facts.def has no such number";
  }
};

}  // namespace loopscope::facts
