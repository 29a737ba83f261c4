#include <fmt/format.h>

#include <optional>

#include "profiler/cli/command.h"
#include "profiler/cli/experiment_options.h"
#include "profiler/cli/report_output.h"
#include "profiler/commands/session.h"
#include "profiler/commands/watch.h"
#include "profiler/system/terminal.h"

namespace loopscope {
namespace {

constexpr int kDefaultSteps = 50;

// The exit code is the program's own, so that `run` can prefix any command; 1 where that is 0 and --fail-on was met.
Result<int> RunCommand(const Options& options) {
  auto session = Session::Open(options, false);
  if (!session) return session.error();
  std::optional<Watch> watch;
  if (options.watch) watch.emplace((*session)->recording_folders());
  const auto diagnosed = (*session)->Diagnose(DiagnosisSpec(options, kDefaultSteps), (*session)->output());
  watch.reset();
  if (!diagnosed) return diagnosed.error();
  const auto written = WriteReport(diagnosed->report, options, (*session)->output());
  if (diagnosed->failure) Say("loopscope: " + diagnosed->failure->Message());
  // Report write errors (full disk, closed pipe) without failing the run.
  if (!written) Say("loopscope: " + written.error().Message());
  if (diagnosed->launched.end.status == 0 && MeetsFailOn(diagnosed->report, options)) return 1;
  return diagnosed->launched.end.status;
}

}  // namespace

extern const Command kRunCommand{.id = "run",
                                 .summary = "What slows this training loop, with the line that does it.",
                                 .usage = "run [options] -- CMD…",
                                 .example = "loopscope run -- ./train --epochs 3",
                                 .takes = kTakesFormats | kTakesLaunching | kTakesDiagnosing | kTakesProgram,
                                 .add = AddFailOn,
                                 .writes = [](const Options&) { return std::optional(ReportKind::kRun); },
                                 .run = RunCommand};

}  // namespace loopscope
