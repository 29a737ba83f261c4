// train_image: trains a small residual network on JPEG files. Every habit that makes training slow or quick is a knob.
#include "workloads/common/command_line.h"
#include "workloads/common/training.h"
#include "workloads/train_image/image_task.h"

namespace loopscope::train::image {
namespace {

const Presets kPresets = {
    .flaws = WithRankFlaws({
        {"input-starvation", {"loader.workers=0"}},
        {"host-sync", {"sync.defer=off"}},
        {"debug-left-on", {"debug=on"}},
        {"bias-before-norm", {"bias.before_norm=on"}},
        {"fp32-compute", {"amp=off"}},
        {"grads-zeroed", {"grad.set_to_none=off"}},
        {"single-tensor-optimizer", {"optimizer.impl=single"}},
        {"grad-in-eval", {"eval.no_grad=off"}},
        {"graph-retained", {"loss.detach=off"}},
        {"needless-copy", {"loader.from_numpy=off"}},
        // They would hide or worsen those above.
        {"too-many-workers", {"loader.workers=16"}, /*in_naive=*/false},
        {"periodic-stall", {"log.spectra=10"}, /*in_naive=*/false},
        {"deterministic-mode", {"deterministic=on"}, /*in_naive=*/false},
        TooManyThreads(),
    }),
    .tuned = {"loader.workers=1", "loader.prefetch=4", "sync.defer=on", "debug=off", "bias.before_norm=off",
              "grad.set_to_none=on", "eval.no_grad=on", "optimizer.impl=fused", "loss.detach=on",
              "loader.from_numpy=on", "channels_last=on", "relu.inplace=on"},
};

constexpr char kDataHelp[] = R"(  --data DIR          where the images are, or are made when DIR is new or empty
                      (default: ${XDG_CACHE_HOME:-~/.cache}/loopscope/train_image-<parameters>)
)";

int Main(int argc, char** argv) {
  Settings settings;
  const auto train = [&](const TrainingRun& run, const std::filesystem::path& data) {
    const DataSet images = DataSet::Open(data.empty() ? DefaultFolder(settings) : data, settings);
    Train(run, [&] { return std::make_unique<ImageTask>(settings, images); });
  };
  const Program program{.name = "train_image",
                        .summary = "Trains a small residual network on JPEG files and prints loss and accuracy.",
                        .data = kDataHelp,
                        .presets = kPresets,
                        .train = train};
  return RunProgram(program, settings, KnobsOf(settings), argc, argv);
}

}  // namespace
}  // namespace loopscope::train::image

int main(int argc, char** argv) {
  return loopscope::train::image::Main(argc, argv);
}
