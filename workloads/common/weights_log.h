// Weights in the log, as some programs print them to see that they move.
#pragma once

#include <torch/types.h>

#include <vector>

namespace loopscope::train {

// The first `most` weights in one line on stdout; float32 on the CPU.
void PrintWeights(const std::vector<torch::Tensor>& parameters, int most);

}  // namespace loopscope::train
