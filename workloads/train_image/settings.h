// Everything about a training run of train_image that a knob can change, with the program's own defaults.
#pragma once

#include "workloads/common/knobs.h"
#include "workloads/common/settings.h"

namespace loopscope::train::image {

struct Settings : CommonSettings {
  int train_images = 768;
  int val_images = 256;
  int source_size = 176;  // pixels; training images on disk
  int image_size = 96;    // pixels; what the network sees
  bool augment = true;
  bool from_numpy = true;

  std::string norm = "batch";
  bool bias_before_norm = true;
  bool channels_last = false;
};

// The knobs of these settings, which must outlive them.
Knobs KnobsOf(Settings& settings);

}  // namespace loopscope::train::image
