#include "workloads/train_image/settings.h"

#include <fmt/format.h>

#include "workloads/common/knobs/common_knobs.h"

namespace loopscope::train::image {
namespace {

// What an item, "key=value", needs.
auto NeedsOf(std::string_view item) {
  return
      [item](std::string_view other, std::string_view why) { return fmt::format("{} needs {}: {}", item, other, why); };
}

// Why passes cannot be recorded, with what to set instead.
Knobs::Reason WhyNoGraphs(const Settings& settings) {
  const auto need = NeedsOf("cuda_graphs=on");
  if (!settings.cuda_graphs) return std::nullopt;
  if (settings.device != "cuda") return need("an NVIDIA GPU", "add --device cuda, or set cuda_graphs=off");
  if (settings.ranks > 1) return need("one rank", "ranks exchange on their hosts, outside any graph");
  if (settings.debug) return need("debug=off", "anomaly detection reads values back to the host");
  if (settings.checkpoint)
    return need("checkpoint=off", "the generator's state is read back before a block runs again");
  if (settings.image_size_varies) return need("image_size.varies=off", "a graph has the shapes it was recorded with");
  if (settings.noise && !settings.on_device)
    return need("copy.on_device=on", "the host's noise would be drawn only once");
  return std::nullopt;
}

Knobs::Reason WhyNoReplicas(const Settings& settings) {
  const auto need = NeedsOf("data_parallel=on");
  if (!settings.data_parallel) return std::nullopt;
  if (settings.device != "cuda") return need("NVIDIA GPUs", "add --device cuda, or set data_parallel=off");
  if (settings.ranks > 1) return need("one rank", "each rank has a GPU of its own");
  if (settings.cuda_graphs) return need("cuda_graphs=off", "replicas are made anew in each step");
  return std::nullopt;
}

}  // namespace

Knobs KnobsOf(Settings& settings) {
  std::vector<Knob> knobs = CommonKnobs(settings);
  const std::vector<Knob> own = {
      {"loader.from_numpy", &settings.from_numpy, "", "train_image/loader.cpp:batch", "8",
       "train on the loader's own buffer; off = copy each batch three times"},
      {"aug", &settings.augment, "", "train_image/augment.cpp:crop", "-",
       "random crop, scale and flip of training images"},
      {"aug.noise", &settings.noise, "", "train_image/image_task.cpp:noise", "7", "normal noise on training images"},
      {"copy.on_device", &settings.on_device, "", "train_image/image_task.cpp:noise", "7",
       "draw the noise on the GPU; off = on the host, and copy it"},
      {"copy.uint8", &settings.copy_uint8, "", "train_image/loader.cpp:batch", "9",
       "copy images to the GPU as bytes and widen them there"},
      {"cuda_graphs", &settings.cuda_graphs, "", "common/graphed_loss.cpp:passes", "41",
       "launch the forward and backward passes as recorded graphs (GPU)"},
      {"data_parallel", &settings.data_parallel, "", "common/replicas.cpp:forward", "21 22",
       "compute each batch on all GPUs from this one process (two GPUs or more)"},
      {"loader.cache", &settings.cache_images, "", "train_image/loader.cpp:cache", "-",
       "keep decoded training and validation images in memory"},
      {"channels_last", &settings.channels_last, "", "train_image/model.cpp:layout", "16",
       "NHWC layout of images and convolution weights"},
      {"model.size", &settings.model_size, "small|medium|large|huge", "train_image/model.cpp:layers", "48",
       "width of the layers; huge fills a GPU"},
      {"hidden.width", &settings.hidden_width, "0..65536", "train_image/model.cpp:layers", "17",
       "width of the classifier's layers; 0 = as model.size says, multiples of 8"},
      {"relu.inplace", &settings.relu_inplace, "", "train_image/model.cpp:relu", "36", "ReLU overwrites its input"},
      {"checkpoint", &settings.checkpoint, "", "train_image/model.cpp:blocks", "37",
       "recompute the residual blocks in backward"},
      {"norm", &settings.norm, "none|batch", "train_image/model.cpp:norm", "39", "batch norm after each convolution"},
      {"bias.before_norm", &settings.bias_before_norm, "", "train_image/model.cpp:bias", "32",
       "biases that the following batch norm cancels"},
      {"train_images", &settings.train_images, "10..100000", "train_image/data_set.cpp:train", "-",
       "training images on disk"},
      {"val_images", &settings.val_images, "10..100000", "train_image/data_set.cpp:val", "-",
       "validation images on disk"},
      {"source_size", &settings.source_size, "32..1024", "train_image/data_set.cpp:train", "-",
       "edge of the training images on disk, in pixels"},
      {"image_size", &settings.image_size, "32..512", "train_image/augment.cpp:crop", "-",
       "edge of the network's input, in pixels"},
      {"image_size.varies", &settings.image_size_varies, "", "train_image/loader.cpp:batch", "11",
       "each training batch has an edge of its own, from 2/3 to 4/3 of image_size"},
      {"epoch.repeats", &settings.repeats, "1..10000", "train_image/loader.cpp:epoch", "-",
       "how often an epoch goes through the training images"},
  };
  knobs.insert(knobs.end(), own.begin(), own.end());
  const auto idle = [&settings](std::string_view key) -> Knobs::Reason {
    if (!settings.noise && key == "copy.on_device") return "there is no noise to draw (aug.noise=off)";
    if (settings.norm == "none" && key == "bias.before_norm") return "the model has no batch norm";
    return CommonIdle(settings, key);
  };
  const auto conflict = [&settings] {
    for (const Knobs::Reason& reason : {WhyNoGraphs(settings), WhyNoReplicas(settings)}) {
      if (reason) return reason;
    }
    return CommonConflict(settings, TrainSamples(settings), "training images");
  };
  return {std::move(knobs), conflict, idle};
}

}  // namespace loopscope::train::image
