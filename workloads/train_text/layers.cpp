#include "workloads/train_text/layers.h"

#include <torch/types.h>

namespace loopscope::train::text {
namespace {

constexpr int kWidening = 4;  // of the feed-forward network

}  // namespace

EncoderLayerImpl::EncoderLayerImpl(const Settings& settings, int width, int heads)
    : heads_(heads), dropout_(settings.dropout), inplace_(settings.relu_inplace) {
  const torch::nn::LayerNormOptions norm({width});
  attention_norm_ = register_module("attention_norm", torch::nn::LayerNorm(norm));
  queries_keys_values_ = register_module("queries_keys_values", torch::nn::Linear(width, 3 * width));
  attention_out_ = register_module("attention_out", torch::nn::Linear(width, width));
  feed_norm_ = register_module("feed_norm", torch::nn::LayerNorm(norm));
  wide_ = register_module("wide", torch::nn::Linear(width, kWidening * width));
  narrow_ = register_module("narrow", torch::nn::Linear(kWidening * width, width));
}

torch::Tensor EncoderLayerImpl::forward(const torch::Tensor& features, const torch::Tensor& attended) {
  const torch::Tensor heard =
      features + torch::dropout(Attention(attention_norm_(features), attended), dropout_, is_training());
  const torch::Tensor fed = narrow_(Relu(wide_(feed_norm_(heard))));
  return heard + torch::dropout(fed, dropout_, is_training());
}

torch::Tensor EncoderLayerImpl::Attention(const torch::Tensor& features, const torch::Tensor& attended) {
  const std::int64_t batch = features.size(0), length = features.size(1), width = features.size(2);
  const std::vector<torch::Tensor> parts =
      queries_keys_values_(features).view({batch, length, 3, heads_, width / heads_}).permute({2, 0, 3, 1, 4}).unbind();
  const torch::Tensor heard = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], attended);
  return attention_out_(heard.transpose(1, 2).reshape({batch, length, width}));
}

torch::Tensor EncoderLayerImpl::Relu(torch::Tensor features) const {
  return inplace_ ? features.relu_() : torch::relu(features);
}

}  // namespace loopscope::train::text
