#include "profiler/cli/command.h"
#include "profiler/cli/gate_options.h"
#include "profiler/cli/option_values.h"
#include "profiler/commands/session.h"
#include "profiler/experiments/pairs.h"

namespace loopscope {
namespace {

Result<void> SplitFirstCommand(const Command& command, Options& options) {
  if (options.inputs.size() != 1) return WrongWords(command, "one command in quotes goes before `--`");
  auto words = SplitWords(options.inputs.front());
  if (!words) return words.error();
  options.program_a = std::move(*words);
  if (options.program_a.empty()) return WrongWords(command, "the first command is empty");
  return {};
}

Result<int> AbCommand(const Options& options) {
  auto opened = Session::Open(options, true);
  if (!opened) return opened.error();
  Session& session = **opened;
  PairsInput input;
  input.command_a = options.program_a;
  input.command_b = options.program;
  input.options = session.Experiment(kDefaultWarmup);
  input.journal = session.output() / "journal.jsonl";
  const auto report = session.Measure([&input](const Launcher& launcher, const ExperimentEvents& events, Report& out) {
    return RunPairs(input, launcher, events, out);
  });
  if (!report) return report.error();
  return session.signals().interrupted() ? kExitInconclusive : 0;
}

}  // namespace

extern const Command kAbCommand{
    .id = "ab",
    .summary = "Measure a change of your own: two commands, the same statistics.",
    .usage = "ab [options] 'CMD_A' -- CMD_B…",
    .example = "loopscope ab './train --lr 0.1' -- ./train --lr 0.2",
    .takes = kTakesFormats | kTakesLaunching | kTakesExperiment | kTakesBlocks | kTakesProgram,
    .inputs = 1,
    .blocks_text = kBlocksText,
    .add = [](CLI::App& app, Options& options) { AddOtherSide(app, options, "CMD_A"); },
    .check = SplitFirstCommand,
    .writes = [](const Options&) { return std::optional(ReportKind::kTrials); },
    .run = AbCommand};

}  // namespace loopscope
