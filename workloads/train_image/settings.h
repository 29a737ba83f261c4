// Everything about a training run of train_image that a knob can change, with the program's own defaults.
#pragma once

#include <string>

#include "workloads/common/knobs/knobs.h"
#include "workloads/common/settings.h"

namespace loopscope::train::image {

struct Settings : CommonSettings {
  int train_images = 768;
  int val_images = 256;
  int source_size = 176;  // pixels; training images on disk
  int image_size = 96;    // pixels; what the network sees
  bool image_size_varies = false;
  bool augment = true;
  bool noise = false;
  bool cache_images = false;
  int repeats = 1;       // how often an epoch goes through the training images
  int hidden_width = 0;  // 0: as the model's size says

  bool from_numpy = true;

  std::string norm = "batch";
  bool bias_before_norm = true;
  bool channels_last = false;
};

// The training samples of an epoch.
inline int TrainSamples(const Settings& settings) {
  return settings.train_images * settings.repeats;
}

// The knobs of train_image: those that every program has, and its own. The settings must outlive them.
Knobs KnobsOf(Settings& settings);

}  // namespace loopscope::train::image
