// One process that computes each batch on all GPUs of the machine: LibTorch's data_parallel. It makes a replica of the
// network on each device for every batch, gives each a share, and gathers the results on the first. Ranks (--ranks N)
// are faster: here one process does all copies and launches.
#pragma once

#include <c10/core/Device.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <vector>

namespace loopscope::train {

// A network that can be replicated: `clone` makes a copy on a device, with its own values.
class ReplicatedModule : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(const torch::Tensor& input) = 0;
};

// `output` becomes the result of `module` for `input` (batch, ...), on the first of the devices, where both lie
// already.
using ForwardOnAll = void (*)(const std::shared_ptr<ReplicatedModule>& module, const torch::Tensor& input,
                              const std::vector<c10::Device>& devices, torch::Tensor& output);

// The module's entry point, for dlsym.
constexpr char kForwardOnAll[] = "train_forward_on_all";

class Replicas {
 public:
  // Loads the module. Throws UsageError that says what is missing, as where there is one GPU.
  Replicas();

  torch::Tensor operator()(const std::shared_ptr<ReplicatedModule>& module, const torch::Tensor& input) const;

 private:
  std::vector<c10::Device> devices_;
  ForwardOnAll forward_;
};

}  // namespace loopscope::train
