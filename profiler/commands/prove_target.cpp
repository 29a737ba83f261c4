#include "profiler/commands/prove_target.h"

#include "profiler/cli/command.h"
#include "profiler/commands/session.h"
#include "profiler/experiments/target/procedure.h"

namespace loopscope {
namespace {

constexpr int kTargetWarmup = 1;

}  // namespace

Result<int> ProveToTarget(const Options& options, std::vector<Candidate> candidates) {
  auto opened = Session::Open(options, true);
  if (!opened) return opened.error();
  Session& session = **opened;
  ToTargetInput input;
  input.command = options.program;
  input.candidates = std::move(candidates);
  input.options = session.Experiment(kTargetWarmup);
  input.watch = {options.target.target, options.target.regex};
  input.limit_s = options.time_s;
  input.journal = session.output() / "journal.jsonl";
  const auto report = session.Measure([&input](const Launcher& launcher, const ExperimentEvents& events, Report& out) {
    return RunToTarget(input, launcher, events, out);
  });
  if (!report) return report.error();
  return session.signals().interrupted() ? kExitInconclusive : 0;
}

}  // namespace loopscope
