// Optimizers that scale each layer's update by the size of its weights or of its gradient. They use the step of a
// LibTorch optimizer, which keeps their state, and change its input or output.
#pragma once

#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <string>
#include <vector>

namespace loopscope::train {

// LARS (You et al., arXiv 1708.03888): the gradient of each layer is brought to the size of its weights; the paper's
// trust coefficient is part of the learning rate.
class Lars : public torch::optim::SGD {
 public:
  using SGD::SGD;
  torch::Tensor step(LossClosure closure = nullptr) override;
};

// LAMB (You et al., arXiv 1904.00962): the step of AdamW, brought to the size of each layer's weights.
class Lamb : public torch::optim::AdamW {
 public:
  using AdamW::AdamW;
  torch::Tensor step(LossClosure closure = nullptr) override;
};

// NovoGrad (Ginsburg et al., arXiv 1905.11286): the gradient of each layer is divided by a running norm of its own,
// then momentum. The running norms begin anew with the gradients that follow a checkpoint.
class NovoGrad : public torch::optim::SGD {
 public:
  using SGD::SGD;
  torch::Tensor step(LossClosure closure = nullptr) override;

 private:
  std::vector<torch::Tensor> squares_;  // by parameter; undefined before its first gradient
};

// The one with this name, "lars", "lamb" or "novograd"; null for any other name.
std::unique_ptr<torch::optim::Optimizer> MakeTrustOptimizer(const std::string& name, double lr,
                                                            std::vector<torch::Tensor> parameters);

}  // namespace loopscope::train
