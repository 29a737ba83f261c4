// The weights of a training on their way out: a folder of checkpoints, and the log.
#pragma once

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <filesystem>
#include <vector>

namespace loopscope::train {

// A folder of checkpoints: one per epoch; training goes on from the newest.

// Loads the newest checkpoint of the folder; returns how many epochs it has seen, 0 when there is none. Throws
// std::runtime_error when it does not fit the model.
int Resume(const std::filesystem::path& folder, torch::nn::Module& model, torch::optim::Optimizer& optimizer);

// Saves under a new name, atomically.
void Save(const std::filesystem::path& folder, int epochs, const torch::nn::Module& model,
          const torch::optim::Optimizer& optimizer);

// Weights in the log, as some programs print them to see that they move.

// The first `most` weights in one line on stdout; float32 on the CPU.
void PrintWeights(const std::vector<torch::Tensor>& parameters, int most);

}  // namespace loopscope::train
