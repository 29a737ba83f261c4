// The encoder's layer.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include "workloads/train_text/settings.h"

namespace loopscope::train::text {

// Attention and a feed-forward network, each after a layer norm and with a shortcut (Vaswani et al., arXiv
// 1706.03762; norms first after Xiong et al., 2002.04745).
class EncoderLayerImpl : public torch::nn::Module {
 public:
  EncoderLayerImpl(const Settings& settings, int width, int heads);

  // Features (batch, length, width) to the same; `attended` (batch, 1, 1, length) is true where there is a token.
  torch::Tensor forward(const torch::Tensor& features, const torch::Tensor& attended);

 private:
  torch::Tensor Attention(const torch::Tensor& features, const torch::Tensor& attended);
  torch::Tensor Relu(torch::Tensor features) const;

  int heads_;
  double dropout_;
  bool inplace_;
  torch::nn::LayerNorm attention_norm_{nullptr}, feed_norm_{nullptr};
  torch::nn::Linear queries_keys_values_{nullptr}, attention_out_{nullptr}, wide_{nullptr}, narrow_{nullptr};
};
TORCH_MODULE(EncoderLayer);

}  // namespace loopscope::train::text
