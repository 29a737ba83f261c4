#include "profiler/cli/prove_options.h"

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

}  // namespace loopscope
