// train_image: trains a small residual network on JPEG files. Every habit that makes training slow or quick is a knob.
#include "workloads/common/device.h"
#include "workloads/common/knobs/command_line.h"
#include "workloads/common/training.h"
#include "workloads/train_image/image_task.h"
#include "workloads/train_image/settings.h"

namespace loopscope::train::image {
namespace {

const Presets kPresets = {
    .flaws = WithGpuFlaws(WithRankFlaws({
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
        // These would hide or worsen the ones above.
        {"too-many-workers", {"loader.workers=16"}, /*in_naive=*/false},
        {"periodic-stall", {"log.spectra=10"}, /*in_naive=*/false},
        {"late-free", {"free.early=off", "log.every=20"}, /*in_naive=*/false},
        {"deterministic-mode", {"deterministic=on"}, /*in_naive=*/false},
        TooManyThreads(),
        {"wide-input", {"copy.uint8=off"}, true, /*of_gpus=*/true},
        {"cudnn-autotune-off", {"cudnn.benchmark=off"}, true, true},
        {"layout-conversion", {"channels_last=off"}, true, true},
        {"cpu-then-device", {"aug.noise=on", "copy.on_device=off"}, false, true},
        // Each new size is autotuned, which would take minutes with the huge network.
        {"cudnn-retuning", {"image_size.varies=on", "model.size=large", "batch.size=128"}, false, true},
        // TF32 acts on float32 alone, and matrix products are few beside the convolutions.
        {"tf32-off", {"tf32=off", "amp=off", "hidden.width=8192"}, false, true},
        {"odd-dimensions", {"hidden.width=8191"}, false, true},
        {"launch-bound", {"batch.size=4", "model.size=small"}, false, true},
        {"small-batch", {"batch.size=8", "model.size=large"}, false, true},
    })),
    .tuned = {"loader.workers=1", "loader.prefetch=4", "sync.defer=on", "debug=off", "bias.before_norm=off",
              "grad.set_to_none=on", "eval.no_grad=on", "optimizer.impl=fused", "loss.detach=on",
              "loader.from_numpy=on", "channels_last=on", "relu.inplace=on", "free.early=on"},
    // Pictures in memory, many steps to an epoch and a network that keeps a GPU busy: else it waits for the loader.
    .tuned_cuda = {"copy.uint8=on", "copy.on_device=on", "loader.cache=on", "epoch.repeats=64", "batch.size=512",
                   "model.size=huge", "log.every=50"},
};

constexpr char kDataHelp[] = R"(  --data DIR          where the images are, or are made when DIR is new or empty
                      (default: ${XDG_CACHE_HOME:-~/.cache}/loopscope/train_image-<parameters>)
)";

int Main(int argc, char** argv) {
  Settings settings;
  const auto train = [&](const TrainingRun& run, const std::filesystem::path& data) {
    OpenDevice(settings);  // before a data set is made in vain
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
