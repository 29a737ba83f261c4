#include <fmt/format.h>

#include "profiler/commands/command_table.h"
#include "profiler/commands/experiment.h"
#include "profiler/commands/report_output.h"
#include "profiler/commands/run_info.h"
#include "profiler/commands/session.h"

namespace loopscope {
namespace {

constexpr int kWarmup = 10, kInterrupted = 3;

}  // namespace

Result<int> AbCommand(const Options& options) {
  auto opened = Session::Open(options, true);
  if (!opened) return opened.error();
  Session& session = **opened;
  PairsInput input;
  input.command_a = options.program_a;
  input.command_b = options.program;
  input.options = session.Experiment(kWarmup);
  input.journal = session.output() / "journal.jsonl";
  Report report;
  report.run = RunInfoOf(options.program, OwnEnvironment());
  report.output_directory = session.output();
  const auto launch = [&session](const LaunchSpec& spec) { return session.launcher().Launch(spec); };
  const auto done = RunPairs(input, launch, session.Events(), report);
  session.bar().Clear();
  if (!done) return done.error();
  const auto written = WriteReport(report, options, session.output());
  if (!written) return written.error();
  return session.signals().interrupted() ? kInterrupted : 0;
}

}  // namespace loopscope
