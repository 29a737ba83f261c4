// A training run's options from the command line and the environment.
#pragma once

#include <filesystem>
#include <vector>

#include "workloads/common/knobs/knobs.h"
#include "workloads/common/ranks/ranks.h"
#include "workloads/common/settings.h"

namespace loopscope::train {

struct TrainingRun {
  const CommonSettings& settings;
  const Knobs& knobs;
  std::vector<TreatedKnob> treated = {};  // reported once they are in effect
  bool print_losses = false;              // every step's loss with 17 digits
  Ranks ranks = {};
  std::filesystem::path checkpoints = {};  // saved to after each epoch, resumed from at the start; empty: neither
};

}  // namespace loopscope::train
