// The knobs that only train_image has.
#include "workloads/train_image/settings.h"

namespace loopscope::train::image {

Knobs KnobsOf(Settings& settings) {
  std::vector<Knob> knobs = CommonKnobs(settings);
  const std::vector<Knob> own = {
      {"loader.from_numpy", &settings.from_numpy, "", "train_image/loader.cpp:batch", "8",
       "train on the loader's own buffer; off = copy each batch three times"},
      {"aug", &settings.augment, "", "train_image/augment.cpp:crop", "-",
       "random crop, scale and flip of training images"},
      {"channels_last", &settings.channels_last, "", "train_image/model.cpp:layout", "16",
       "NHWC layout of images and convolution weights"},
      {"model.size", &settings.model_size, "small|medium|large", "train_image/model.cpp:layers", "48",
       "width of the layers"},
      {"relu.inplace", &settings.relu_inplace, "", "train_image/model.cpp:relu", "36", "ReLU overwrites its input"},
      {"checkpoint", &settings.checkpoint, "", "train_image/model.cpp:blocks", "37",
       "recompute the residual blocks in backward"},
      {"norm", &settings.norm, "none|batch", "train_image/model.cpp:norm", "39", "batch norm after each convolution"},
      {"bias.before_norm", &settings.bias_before_norm, "", "train_image/model.cpp:bias", "32",
       "biases that the batch norm behind them cancels"},
      {"train_images", &settings.train_images, "10..100000", "train_image/data_set.cpp:train", "-",
       "training images on disk"},
      {"val_images", &settings.val_images, "10..100000", "train_image/data_set.cpp:val", "-",
       "validation images on disk"},
      {"source_size", &settings.source_size, "32..1024", "train_image/data_set.cpp:train", "-",
       "edge of the training images on disk, in pixels"},
      {"image_size", &settings.image_size, "32..512", "train_image/augment.cpp:crop", "-",
       "edge of the network's input, in pixels"},
  };
  knobs.insert(knobs.end(), own.begin(), own.end());
  const auto idle = [&settings](std::string_view key) -> Knobs::Reason {
    if (settings.norm == "none" && key == "bias.before_norm") return "the model has no batch norm";
    return CommonIdle(settings, key);
  };
  const auto conflict = [&settings] { return CommonConflict(settings, settings.train_images, "train_images"); };
  return {std::move(knobs), conflict, idle};
}

}  // namespace loopscope::train::image
