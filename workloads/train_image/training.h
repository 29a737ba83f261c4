// The training program itself: epochs of steps, evaluations, what is printed and what is saved.
#pragma once

#include <filesystem>
#include <vector>

#include "workloads/train_image/data_set.h"
#include "workloads/train_image/treatment.h"

namespace loopscope::train_image {

struct TrainingRun {
  Settings settings;
  std::vector<TreatedKnob> treated;   // reported once they are in effect
  bool print_losses = false;          // every step's loss with 17 digits
  std::filesystem::path checkpoints;  // saved to after each epoch, resumed from at the start; empty: neither
};

// Trains to the last epoch. Throws std::runtime_error that says what went wrong.
void Train(const TrainingRun& run, const DataSet& data);

}  // namespace loopscope::train_image
