#include "profiler/commands/prove_target.h"

#include <fmt/format.h>

#include "profiler/commands/report_output.h"
#include "profiler/commands/run_info.h"
#include "profiler/commands/session.h"
#include "profiler/commands/target_procedure.h"

namespace loopscope {
namespace {

constexpr int kWarmup = 1, kInterrupted = 3;

}  // namespace

Result<int> ProveToTarget(const Options& options, std::vector<Candidate> candidates) {
  auto opened = Session::Open(options, true);
  if (!opened) return opened.error();
  Session& session = **opened;
  ToTargetInput input;
  input.command = options.program;
  input.candidates = std::move(candidates);
  input.options = session.Experiment(kWarmup);
  input.watch = {options.target.target, options.target.regex};
  input.limit_s = options.time_s;
  input.journal = session.output() / "journal.jsonl";
  Report report;
  report.run = RunInfoOf(options.program, OwnEnvironment());
  report.output_directory = session.output();
  const auto launch = [&session](const LaunchSpec& spec) { return session.launcher().Launch(spec); };
  const auto done = RunToTarget(input, launch, session.Events(), report);
  session.bar().Clear();
  if (!done) return done.error();
  const auto written = WriteReport(report, options, session.output());
  if (!written) return written.error();
  return session.signals().interrupted() ? kInterrupted : 0;
}

}  // namespace loopscope
