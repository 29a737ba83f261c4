#include <fmt/format.h>

#include "profiler/cli/definitions.h"
#include "profiler/cli/report_output.h"
#include "profiler/commands/command_table.h"
#include "profiler/diagnosis/report_from.h"
#include "profiler/system/terminal.h"

namespace loopscope {
// Every input is tried; the first that fails gives the exit code, else --fail-on.
Result<int> ReportCommand(const Options& options) {
  if ((!options.json.empty() || !options.files.empty()) && options.inputs.size() > 1) {
    const std::string id = options.json.empty() ? options.files.begin()->first : "json";
    return Error{"--" + id + " takes one report, and there are several inputs", "report", "name one input"};
  }
  Result<int> code = 0;
  for (const std::string& input : options.inputs) {
    if (options.inputs.size() > 1 && options.format == "text") fmt::print("{}\n\n", input);
    auto report = ReportFrom(input);
    if (report && (options.format == "html" || options.files.contains("html"))) AddTimeline(input, *report);
    Result<void> written = report ? ApplyDefinitions(options.definitions, *report) : report.error();
    if (written) written = WriteReport(*report, options, "");
    if (written && code && MeetsFailOn(*report, options)) code = 1;
    if (written) continue;
    if (!code) Say("loopscope: " + written.error().Message());
    if (code) code = written.error();
  }
  return code;
}

}  // namespace loopscope
