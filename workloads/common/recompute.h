// Activation checkpointing (Chen et al., arXiv 1604.06174): a block that forgets its activations and computes them
// again in the backward pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace loopscope::train {

using Block = std::function<at::Tensor(const at::Tensor&)>;

// Runs the block on `input` without keeping its activations. The second run draws the same random numbers as the
// first; batch norms see the batch twice. Objects that `block` references must live until the backward pass.
at::Tensor Recomputed(Block block, const at::Tensor& input);

}  // namespace loopscope::train
