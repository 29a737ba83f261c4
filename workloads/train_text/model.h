// The network: embedded tokens and positions, encoder layers, the mean over a text's tokens, and class scores.
#pragma once

#include <torch/nn/modules/embedding.h>

#include <vector>

#include "workloads/train_text/layers.h"

namespace loopscope::train::text {

class TextNetworkImpl : public torch::nn::Module {
 public:
  explicit TextNetworkImpl(const Settings& settings);

  // Tokens int64 (batch, length) to class scores (batch, classes); `padding` bool (batch, length) is true where there
  // is no token.
  torch::Tensor forward(const torch::Tensor& tokens, const torch::Tensor& padding);

 private:
  double dropout_;
  bool recompute_;
  torch::nn::Embedding words_{nullptr}, positions_{nullptr};
  std::vector<EncoderLayer> layers_;
  torch::nn::LayerNorm norm_{nullptr};
  torch::nn::Linear scores_{nullptr};
};
TORCH_MODULE(TextNetwork);

}  // namespace loopscope::train::text
