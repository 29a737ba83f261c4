// The knobs of train_image: one table that parses, prints and explains every setting.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "workloads/train_image/settings.h"

namespace loopscope::train_image {

struct Knob {
  using Member = std::variant<bool Settings::*, int Settings::*, double Settings::*, std::string Settings::*>;

  std::string_view key;      // "loader.workers"
  Member member;             // on/off knobs are bool
  std::string_view choices;  // "off|bf16" for text, "0..64" for numbers; empty for on/off
  std::string_view place;    // where it acts: "training.cpp:loader"
  std::string_view rows;     // rows of the table of tricks, "-" for none
  std::string_view meaning;  // one line
};

std::span<const Knob> Knobs();
const Knob* FindKnob(std::string_view key);

// The setting behind the knob as the text that Assign takes.
std::string ValueOf(const Settings& settings, const Knob& knob);

// The values a knob takes: "on|off", "off|bf16", "0..64".
std::string_view ValuesOf(const Knob& knob);

// Sets the knob; returns what is wrong with the value, if anything, and then changes nothing.
std::optional<std::string> Assign(Settings& settings, const Knob& knob, std::string_view value);

// Sets "key=value"; returns a message that names the item and what would be right, if anything is wrong.
std::optional<std::string> AssignItem(Settings& settings, std::string_view item);

// Why the settings cannot train together, if so.
std::optional<std::string> Conflict(const Settings& settings);

// The table for --list-knobs.
std::string DescribeKnobs();

}  // namespace loopscope::train_image
