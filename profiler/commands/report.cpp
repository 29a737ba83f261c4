#include <fmt/format.h>

#include "profiler/commands/command_table.h"
#include "profiler/commands/diagnosis.h"
#include "profiler/commands/report_output.h"

namespace loopscope {

// Every input is tried; the first that fails gives the exit code.
Result<int> ReportCommand(const Options& options) {
  if (!options.json.empty() && options.inputs.size() > 1) {
    return Error{"--json takes one report, and there are several inputs", "report", "name one input"};
  }
  Result<int> code = 0;
  for (const std::string& input : options.inputs) {
    if (options.inputs.size() > 1 && options.format == "text") fmt::print("{}\n\n", input);
    const auto report = ReportFrom(input);
    const Result<void> written = report ? WriteReport(*report, options, "") : report.error();
    if (written) continue;
    if (!code) fmt::print(stderr, "loopscope: {}\n", written.error().Message());
    if (code) code = written.error();
  }
  return code;
}

}  // namespace loopscope
