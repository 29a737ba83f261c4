// A folder of checkpoints: one per epoch; training goes on from the newest.
#pragma once

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <filesystem>

namespace loopscope::train {

// Loads the newest checkpoint of the folder; returns how many epochs it has seen, 0 when there is none. Throws
// std::runtime_error when it does not fit the model.
int Resume(const std::filesystem::path& folder, torch::nn::Module& model, torch::optim::Optimizer& optimizer);

// Saves under a new name, atomically.
void Save(const std::filesystem::path& folder, int epochs, const torch::nn::Module& model,
          const torch::optim::Optimizer& optimizer);

}  // namespace loopscope::train
