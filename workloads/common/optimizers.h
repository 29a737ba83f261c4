// The optimizers, each in three implementations, and gradient clipping.
#pragma once

#include <torch/optim/optimizer.h>

#include <memory>
#include <vector>

#include "workloads/common/settings.h"

namespace loopscope::train {

// The optimizer that the settings name. All implementations derive from torch::optim's class and keep its state, so
// that a checkpoint of one is read by another.
std::unique_ptr<torch::optim::Optimizer> MakeOptimizer(const CommonSettings& settings,
                                                       std::vector<torch::Tensor> parameters);

void SetLearningRate(torch::optim::Optimizer& optimizer, double rate);

// Clips the parameters' gradients as the settings say.
void Clip(const CommonSettings& settings, const std::vector<torch::Tensor>& parameters);

}  // namespace loopscope::train
