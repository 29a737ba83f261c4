#include "profiler/core/report/compare.h"

#include <fmt/format.h>

#include "profiler/cli/command.h"
#include "profiler/cli/report_output.h"
#include "profiler/diagnosis/report_from.h"

namespace loopscope {
namespace {

// The second run's report, with what changed from the first.
Result<int> CompareCommand(const Options& options) {
  auto before = ReportFrom(options.inputs[0]);
  if (!before) return before.error();
  auto after = ReportFrom(options.inputs[1]);
  if (!after) return after.error();
  AddTimeline(options.inputs[0], *before);
  AddTimeline(options.inputs[1], *after);
  after->compare = Compare(*before, *after);
  after->compare->before = options.inputs[0];
  after->compare->after = options.inputs[1];
  const auto written = WriteReport(*after, options, "");
  return written ? Result<int>(0) : written.error();
}

}  // namespace

extern const Command kCompareCommand{.id = "compare",
                                     .summary = "What changed per step from one run to another.",
                                     .usage = "compare [options] BEFORE AFTER",
                                     .example = "loopscope compare loopscope-out/monday loopscope-out/tuesday",
                                     .takes = kTakesFormats,
                                     .inputs = kAnyInputs,
                                     .check = [](const Command& command, Options& options) -> Result<void> {
                                       if (options.inputs.size() == 2) return {};
                                       return WrongUsage(
                                           command, "takes two inputs",
                                           "name two run folders, traces or reports: the one before, the one after");
                                     },
                                     .writes = [](const Options&) { return std::optional(ReportKind::kComparison); },
                                     .run = CompareCommand};

}  // namespace loopscope
