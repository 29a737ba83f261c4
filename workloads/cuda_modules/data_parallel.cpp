// The module for data_parallel=on: the only one built with LibTorch's scatter and gather for GPUs.
#include <torch/nn/parallel/data_parallel.h>

#include "workloads/common/ranks/replicas.h"

extern "C" __attribute__((visibility("default"))) void train_forward_on_all(
    const std::shared_ptr<loopscope::train::ReplicatedModule>& module, const torch::Tensor& input,
    const std::vector<c10::Device>& devices, torch::Tensor& output) {
  output = torch::nn::parallel::data_parallel(module, input, devices);
}
