// The optimizers, each in three implementations, and gradient clipping.
#pragma once

#include <torch/optim/optimizer.h>

#include <memory>
#include <string_view>
#include <vector>

#include "workloads/common/settings.h"

namespace loopscope::train {

// The optimizer that the settings name. All implementations derive from torch::optim's class and keep its state, so
// that a checkpoint of one is read by another. With `switchable` the implementation can be set later too.
std::unique_ptr<torch::optim::Optimizer> MakeOptimizer(const CommonSettings& settings,
                                                       std::vector<torch::Tensor> parameters, bool switchable = false);

// "single", "foreach" or "fused", from the next step on. False where the optimizer was not made for that.
bool SetImplementation(torch::optim::Optimizer& optimizer, std::string_view implementation);

void SetLearningRate(torch::optim::Optimizer& optimizer, double rate);

// Clips the parameters' gradients as the settings say.
void Clip(const CommonSettings& settings, const std::vector<torch::Tensor>& parameters);

}  // namespace loopscope::train
