#include <fmt/format.h>

#include "profiler/cli/command.h"
#include "profiler/cli/experiment_options.h"
#include "profiler/commands/session.h"
#include "profiler/experiments/sweep/grid.h"
#include "profiler/experiments/sweep/procedure.h"

namespace loopscope {
namespace {

Result<int> SweepCommand(const Options& options) {
  // Rejects a key that is not a treatment before anything is launched.
  auto axes = ParseGrid(options.inputs);
  if (!axes) return axes.error();
  auto opened = Session::Open(options, true);
  if (!opened) return opened.error();
  Session& session = **opened;
  SweepInput input;
  input.command = options.program;
  input.axes = std::move(*axes);
  input.loader_only = options.loader_only;
  input.options = session.Experiment(kDefaultWarmup);
  input.journal = session.output() / "journal.jsonl";
  const auto report = session.Measure([&input](const Launcher& launcher, const ExperimentEvents& events, Report& out) {
    return RunSweep(input, launcher, events, out);
  });
  if (!report) return report.error();
  if (session.signals().interrupted()) {
    session.bar().Say(
        fmt::format("interrupted: go on with `loopscope sweep --resume -o {} …`", session.output().native()));
    return kExitInconclusive;
  }
  return report->sweep->best ? 0 : kExitInconclusive;
}

}  // namespace

extern const Command kSweepCommand{
    .id = "sweep",
    .summary = "Find the best of a grid of settings: loader workers, batch sizes, threads.",
    .usage = "sweep [options] KEY=VALUE,… -- CMD…",
    .example = "loopscope sweep loader.workers=0,1,2,4 -- python train.py",
    .takes = kTakesFormats | kTakesLaunching | kTakesExperiment | kTakesBlocks | kTakesProgram,
    .blocks_text = "blocks of the best cell and its neighbours at most (12); the grid has half as many",
    .add = AddSweep,
    .writes = [](const Options&) { return std::optional(ReportKind::kSweep); },
    .run = SweepCommand};

}  // namespace loopscope
