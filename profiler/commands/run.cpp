#include <fmt/format.h>

#include "profiler/commands/command_table.h"
#include "profiler/commands/report_output.h"
#include "profiler/commands/session.h"
#include "profiler/commands/terminal.h"

namespace loopscope {
namespace {

constexpr int kDefaultSteps = 50;

}  // namespace

// The exit code is the program's own, so that `run` can stand before any command.
Result<int> RunCommand(const Options& options) {
  auto session = Session::Open(options, false);
  if (!session) return session.error();
  const auto diagnosed = (*session)->Diagnose(DiagnosisSpec(options, kDefaultSteps), (*session)->output());
  if (!diagnosed) return diagnosed.error();
  const auto written = WriteReport(diagnosed->report, options, (*session)->output());
  if (diagnosed->failure) Say("loopscope: " + diagnosed->failure->Message());
  if (!written) return written.error();
  return diagnosed->launched.end.status;
}

}  // namespace loopscope
