#include "workloads/train_text/model.h"

#include <torch/nn/init.h>
#include <torch/types.h>

#include "workloads/common/recompute.h"
#include "workloads/train_text/texts.h"

namespace loopscope::train::text {
namespace {

struct Size {
  int width, layers;
};

Size SizeOf(const std::string& name) {
  if (name == "small") return {32, 2};
  if (name == "large") return {128, 6};
  return {48, 4};
}

constexpr int kHeadWidth = 16;
constexpr double kEmbeddingSpread = 0.02;  // as in BERT (Devlin et al., arXiv 1810.04805)

}  // namespace

TextNetworkImpl::TextNetworkImpl(const Settings& settings)
    : dropout_(settings.dropout), recompute_(settings.checkpoint) {
  const auto [width, layers] = SizeOf(settings.model_size);
  words_ = register_module(
      "words",
      torch::nn::Embedding(torch::nn::EmbeddingOptions(settings.vocabulary, width).padding_idx(kPaddingToken)));
  positions_ = register_module("positions", torch::nn::Embedding(settings.max_len, width));
  for (int layer = 0; layer < layers; ++layer) {
    layers_.push_back(
        register_module("layer" + std::to_string(layer), EncoderLayer(settings, width, width / kHeadWidth)));
  }
  norm_ = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  scores_ = register_module("scores", torch::nn::Linear(width, kClasses));
  const torch::NoGradGuard no_grad;
  words_->weight.normal_(0, kEmbeddingSpread)[kPaddingToken].zero_();
  positions_->weight.normal_(0, kEmbeddingSpread);
}

torch::Tensor TextNetworkImpl::forward(const torch::Tensor& tokens, const torch::Tensor& padding) {
  const torch::Tensor place = torch::arange(tokens.size(1), tokens.options());
  const torch::Tensor attended = padding.logical_not().unsqueeze(1).unsqueeze(1);
  torch::Tensor x = torch::dropout(words_(tokens) + positions_(place), dropout_, is_training());
  for (EncoderLayer& layer : layers_) {
    auto run = [layer, attended](const torch::Tensor& features) mutable { return layer(features, attended); };
    x = recompute_ && is_training() && torch::GradMode::is_enabled() ? Recomputed(run, x) : run(x);
  }
  const torch::Tensor sum = norm_(x).masked_fill(padding.unsqueeze(2), 0).sum(1);
  return scores_(sum / padding.logical_not().sum(1, /*keepdim=*/true));
}

}  // namespace loopscope::train::text
