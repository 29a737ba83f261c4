// train_text: trains a small transformer encoder to sort texts. Every habit that makes training slow or quick is a
// knob.
#include "workloads/common/knobs/command_line.h"
#include "workloads/common/training.h"
#include "workloads/train_text/settings.h"
#include "workloads/train_text/text_task.h"

namespace loopscope::train::text {
namespace {

const Presets kPresets = {
    .flaws = WithRankFlaws({
        {"padding-waste", {"batch.by_length=off", "batch.pad=longest"}},
        // Its share is largest in short steps, and small beside the other flaws.
        {"slow-clipping", {"clip.foreach=off", "batch.size=4"}, /*in_naive=*/false},
        {"needless-recompute", {"checkpoint=on"}},
        {"host-sync", {"sync.defer=off"}},
        // Not in naive: with recomputing it makes a step take seconds.
        {"debug-left-on", {"debug=on"}, /*in_naive=*/false},
        {"single-tensor-optimizer", {"optimizer.impl=single"}},
        {"grad-in-eval", {"eval.no_grad=off"}},
        {"graph-retained", {"loss.detach=off"}},
    }),
    .tuned = {"loader.workers=1", "loader.prefetch=4", "batch.by_length=on", "batch.pad=longest", "sync.defer=on",
              "debug=off", "clip.foreach=on", "checkpoint=off", "grad.set_to_none=on", "eval.no_grad=on",
              "optimizer.impl=fused", "loss.detach=on", "relu.inplace=on"},
};

int Main(int argc, char** argv) {
  Settings settings;
  const auto train = [&](const TrainingRun& run, const std::filesystem::path&) {
    Train(run, [&] { return std::make_unique<TextTask>(settings); });
  };
  const Program program{.name = "train_text",
                        .summary = "Trains a small transformer encoder to sort texts and prints loss and accuracy.",
                        .data = "",
                        .presets = kPresets,
                        .train = train};
  return RunProgram(program, settings, KnobsOf(settings), argc, argv);
}

}  // namespace
}  // namespace loopscope::train::text

int main(int argc, char** argv) {
  return loopscope::train::text::Main(argc, argv);
}
