#include <fmt/format.h>

#include "profiler/commands/command_table.h"
#include "profiler/commands/session.h"
#include "profiler/experiments/sweep/grid.h"
#include "profiler/experiments/sweep/procedure.h"

namespace loopscope {
namespace {

constexpr int kWarmup = 10, kInconclusive = 3;

}  // namespace

Result<int> SweepCommand(const Options& options) {
  // A key that is no treatment is said before anything is launched.
  auto axes = ParseGrid(options.inputs);
  if (!axes) return axes.error();
  auto opened = Session::Open(options, true);
  if (!opened) return opened.error();
  Session& session = **opened;
  SweepInput input;
  input.command = options.program;
  input.axes = std::move(*axes);
  input.loader_only = options.loader_only;
  input.options = session.Experiment(kWarmup);
  input.journal = session.output() / "journal.jsonl";
  const auto report = session.Measure([&input](const Launcher& launcher, const ExperimentEvents& events, Report& out) {
    return RunSweep(input, launcher, events, out);
  });
  if (!report) return report.error();
  if (session.signals().interrupted()) {
    session.bar().Say(
        fmt::format("interrupted: go on with `loopscope sweep --resume -o {} …`", session.output().native()));
    return kInconclusive;
  }
  return report->sweep->best ? 0 : kInconclusive;
}

}  // namespace loopscope
