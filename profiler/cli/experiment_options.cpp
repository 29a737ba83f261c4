#include "profiler/cli/experiment_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <regex>

#include "profiler/cli/option_parsers.h"
#include "profiler/cli/option_values.h"
#include "profiler/cli/options.h"
#include "profiler/core/text.h"

namespace loopscope {
namespace {

std::optional<Severity> ParseSeverity(std::string_view name) {
  for (const Severity one : {Severity::kInfo, Severity::kLow, Severity::kMedium, Severity::kHigh}) {
    if (SeverityName(one) == name) return one;
  }
  return std::nullopt;
}

}  // namespace

void AddProve(CLI::App& app, Options& options) {
  const auto list = [](std::string_view text) { return std::optional(SplitList(text)); };
  AddParsed(app, "--only", options.selection.only, list, "a list", "KEY[=VALUE],...",
            "try these treatments alone, found or not");
  AddParsed(app, "--skip", options.selection.skip, list, "a list", "KEY,...", "do not try these");
  app.add_flag("--quick", options.quick,
               "one launch in which treatments take turns: a first ranking, of those that can be switched");
  AddParsed(app, "--alone", options.alone, ParseCount, "a number", "N",
            "measure the N costliest fixes also by themselves (3)");
}

void AddFailOn(CLI::App& app, Options& options) {
  AddParsed(app, "--fail-on", options.fail_on, ParseSeverity, "info, low, medium or high", "SEVERITY",
            options.command == "gate" ? "new findings of this severity or more fail (medium)"
                                      : "end with 1 where there is a finding of this severity or more");
}

namespace {

constexpr std::array<std::string_view, 4> kComesDown = {"loss", "error", "perplexity", "ppl"};

Error NoTarget(const std::string& text) {
  return {"'" + text + "' is not a target", "--target",
          "name a metric and its value, such as accuracy=0.9 or loss<=0.3"};
}

Result<void> CheckRegex(const std::string& regex) {
  try {
    if (std::regex(regex).mark_count() > 0) return {};
  } catch (const std::regex_error& error) {
    return Error{"'" + regex + "' is not a regular expression", "--metric-regex", error.what()};
  }
  return Error{"'" + regex + "' has no group that holds the value", "--metric-regex",
               "put the number in brackets, such as 'accuracy ([0-9.]+)'"};
}

bool ComesDown(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(kComesDown, [&](std::string_view word) { return name.find(word) != name.npos; });
}

}  // namespace

void AddSweep(CLI::App& app, Options& options) {
  const char* const text = "a setting and its values, such as loader.workers=0,1,2,4; several make a grid";
  app.add_option("GRID", options.inputs, text)->type_name("")->expected(-1);
  app.add_flag("--loader-only", options.loader_only, "measure the loader alone: batches are loaded and not trained on");
}

void AddTarget(CLI::App& app, Options& options) {
  Last(app.add_option("--target", options.target.text,
                      "compare the treatments of --only by the time to reach it, over several seeds; a run is ended "
                      "after --time"),
       "NAME=VALUE");
  Last(app.add_option("--metric-regex", options.target.regex,
                      "what the program prints of the metric; the first group is its value"),
       "RE");
}

Result<Target> ParseTarget(const std::string& text) {
  const std::size_t at = text.find_first_of("<>=");
  if (at == text.npos || at == 0) return NoTarget(text);
  Target target;
  target.metric = text.substr(0, at);
  const bool two = text[at] != '=' && at + 1 < text.size() && text[at + 1] == '=';
  const std::string value = text.substr(at + (two ? 2 : 1));
  char* end = nullptr;
  target.value = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || !std::isfinite(target.value)) return NoTarget(text);
  target.at_least = text[at] == '>' || (text[at] == '=' && !ComesDown(target.metric));
  return target;
}

Result<void> CheckTarget(Options& options) {
  TargetOptions& given = options.target;
  if (given.text.empty()) {
    if (given.regex.empty()) return {};
    return Error{"there is no target for it to read", "--metric-regex", "name one: --target accuracy=0.9"};
  }
  auto target = ParseTarget(given.text);
  if (!target) return target.error();
  given.target = *target;
  if (!given.regex.empty()) {
    if (const auto regex = CheckRegex(given.regex); !regex) return regex;
  }
  if (!options.selection.only.empty()) return {};
  return Error{"no treatments to compare", "--target", "name them: --only schedule=onecycle,optimizer=adamw"};
}

}  // namespace loopscope
