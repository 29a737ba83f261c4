// Everything about a training run of train_text that a knob can change, with the program's own defaults.
#pragma once

#include <string>

#include "workloads/common/knobs/knobs.h"
#include "workloads/common/settings.h"

namespace loopscope::train::text {

struct Settings : CommonSettings {
  Settings() {
    batch_size = 8;
    clip = "norm";
  }

  int train_texts = 1024;
  int val_texts = 256;
  int vocabulary = 512;  // tokens, the one for padding included
  int longest = 128;     // tokens in the longest text
  int max_len = 128;     // tokens kept of a text
  std::string pad = "longest";
  bool by_length = false;
  double dropout = 0.1;
};

// The knobs of train_text: those that every program has, and its own. The settings must outlive them.
Knobs KnobsOf(Settings& settings);

}  // namespace loopscope::train::text
