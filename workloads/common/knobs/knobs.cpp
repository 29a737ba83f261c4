#include "workloads/common/knobs/knobs.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>

#include "probes/environment.h"
#include "probes/loopscope.h"

namespace loopscope::train {
namespace {

std::string_view Trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

template <class Number>
std::optional<Number> Parse(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool InRange(double value, std::string_view range) {
  const auto dots = range.find("..");
  return value >= *Parse<double>(range.substr(0, dots)) && value <= *Parse<double>(range.substr(dots + 2));
}

bool IsChoice(std::string_view value, std::string_view choices) {
  while (!choices.empty()) {
    const auto choice = choices.substr(0, choices.find('|'));
    if (value == choice) return true;
    choices.remove_prefix(std::min(choices.size(), choice.size() + 1));
  }
  return false;
}

template <class Value>
std::optional<Value> Read(std::string_view text, std::string_view choices) {
  if constexpr (std::is_same_v<Value, bool>) {
    if (text == "on" || text == "off") return text == "on";
  } else if constexpr (std::is_same_v<Value, std::string>) {
    if (IsChoice(text, choices)) return std::string(text);
  } else if (const auto number = Parse<Value>(text); number && InRange(static_cast<double>(*number), choices)) {
    return number;
  }
  return std::nullopt;
}

template <class Value>
std::string Show(const Value& value) {
  if constexpr (std::is_same_v<Value, bool>) {
    return value ? "on" : "off";
  } else {
    return fmt::format("{}", value);
  }
}

}  // namespace

std::string ValueOf(const Knob& knob) {
  return std::visit([&](const auto* setting) { return Show(*setting); }, knob.setting);
}

std::string_view ValuesOf(const Knob& knob) {
  return knob.choices.empty() ? "on|off" : knob.choices;
}

const Knob* Knobs::Find(std::string_view key) const {
  for (const Knob& knob : knobs_) {
    if (knob.key == key) return &knob;
  }
  return nullptr;
}

Knobs::Reason Knobs::Assign(const Knob& knob, std::string_view value) const {
  const bool good = std::visit(
      [&](auto* setting) {
        const auto read = Read<std::remove_reference_t<decltype(*setting)>>(value, knob.choices);
        if (read) *setting = *read;
        return read.has_value();
      },
      knob.setting);
  if (good) return std::nullopt;
  return fmt::format("\"{}\" is not a value of {}: it takes {}", value, knob.key, ValuesOf(knob));
}

Knobs::Reason Knobs::AssignItem(std::string_view item) const {
  const auto equals = item.find('=');
  if (equals == item.npos) return fmt::format("\"{}\" is not of the form key=value", item);
  const std::string_view key = Trimmed(item.substr(0, equals));
  const Knob* knob = Find(key);
  if (knob == nullptr) return fmt::format("there is no knob \"{}\": --list-knobs prints all of them", key);
  return Assign(*knob, Trimmed(item.substr(equals + 1)));
}

std::string Knobs::Describe() const {
  std::string text = fmt::format("{:<18} {:<38} {:<8} {:<8} {}\n", "knob", "values", "default", "tricks", "meaning");
  for (const Knob& knob : knobs_) {
    fmt::format_to(std::back_inserter(text), "{:<18} {:<38} {:<8} {:<8} {}\n", knob.key, ValuesOf(knob), ValueOf(knob),
                   knob.rows, knob.meaning);
  }
  return text;
}

namespace {

void ApplySetting(const Knobs& knobs, const std::string& key, std::vector<TreatedKnob>& treated) {
  const Knob* knob = knobs.Find(key);
  if (knob == nullptr) return NotApplicable(key.c_str(), "the program has no such knob");
  const auto value = loopscope::Knob(key);
  const std::string before = ValueOf(*knob);
  auto error = knobs.Assign(*knob, value.value_or(""));
  if (!error && (error = knobs.Conflict())) knobs.Assign(*knob, before);
  if (error) return NotApplicable(key.c_str(), error->c_str());
  treated.push_back({knob, before});
}

}  // namespace

std::vector<TreatedKnob> ApplyTreatment(const Knobs& knobs) {
  // Also without a requested value: asking offers the knob, and `prove` tries offered knobs.
  for (const Knob& one : knobs.all()) loopscope::Knob(one.key);
  std::vector<TreatedKnob> treated;
  const char* treatment = std::getenv(env::kTreatment);
  env::ForEachSetting(treatment != nullptr ? treatment : "",
                      [&](std::string_view key, std::string_view) { ApplySetting(knobs, std::string(key), treated); });
  return treated;
}

void ReportTreatment(const std::vector<TreatedKnob>& treated, const Knobs& knobs, const InEffect& in_effect) {
  for (const auto& [knob, before] : treated) {
    const std::string key(knob->key);
    const auto read = in_effect.find(key);
    const std::string now = read != in_effect.end() ? read->second : ValueOf(*knob);
    if (const auto reason = knobs.Idle(key)) {
      NotApplicable(key.c_str(), reason->c_str());
    } else if (now == before) {
      // Nothing was changed, and the requested value is in effect.
      Applied(key.c_str(), fmt::format("workloads/{}", knob->place).c_str(), now.c_str(), now.c_str());
    } else {
      Applied(key.c_str(), fmt::format("workloads/{}", knob->place).c_str(), before.c_str(), now.c_str());
    }
  }
}

}  // namespace loopscope::train
