// Command-line options whose value a function parses, and how often each may be given.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "profiler/cli/option_values.h"

namespace loopscope {

// `expected` ends the message "'x' is not …".
template <class Parse, class Value>
CLI::callback_t Into(Value& value, Parse parse, std::string name, std::string expected) {
  return [&value, parse, name, expected](const CLI::results_t& given) {
    const auto parsed = parse(given.back());
    if (!parsed) throw CLI::ValidationError(name, "'" + given.back() + "' is not " + expected);
    value = *parsed;
    return true;
  };
}

// One value; when given several times, the last counts.
inline CLI::Option* Last(CLI::Option* option, const char* shown) {
  return option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->type_name(shown)->expected(1);
}

// One value per occurrence.
inline CLI::Option* Each(CLI::App& app, const char* name, CLI::callback_t into, const char* shown, const char* text) {
  return app.add_option(name, std::move(into), text)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name(shown);
}

template <class Value, class Parse>
void AddParsed(CLI::App& app, const std::string& names, Value& value, Parse parse, const char* expected,
               const char* shown, const char* text) {
  Last(app.add_option(names, Into(value, parse, names.substr(names.find("--")), expected), text), shown);
}

// A file or a folder to write to.
template <class Value>
void AddPlace(CLI::App& app, const std::string& names, Value& value, const char* shown, const std::string& text) {
  AddParsed(app, names, value, ParsePath, shown == std::string("DIR") ? "a folder" : "a file", shown, text.c_str());
}

}  // namespace loopscope
