#include "profiler/commands/command_table.h"
#include "profiler/commands/session.h"
#include "profiler/experiments/pairs.h"

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
  const auto report = session.Measure([&input](const Launcher& launcher, const ExperimentEvents& events, Report& out) {
    return RunPairs(input, launcher, events, out);
  });
  if (!report) return report.error();
  return session.signals().interrupted() ? kInterrupted : 0;
}

}  // namespace loopscope
