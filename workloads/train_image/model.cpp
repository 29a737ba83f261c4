#include "workloads/train_image/model.h"

#include <torch/nn/functional/pooling.h>
#include <torch/nn/init.h>

#include <algorithm>

#include "workloads/common/recompute.h"
#include "workloads/train_image/pictures.h"

namespace loopscope::train::image {
namespace {

struct Size {
  std::vector<int> stages;  // channels; each stage but the first halves the picture
  int blocks;               // per stage
  std::vector<int> hidden;  // widths of the classifier
};

Size SizeOf(const std::string& name) {
  if (name == "small") return {{8, 16, 32, 64}, 1, {512}};
  if (name == "huge") return {{128, 256, 512, 1024}, 2, {2048, 1024}};
  if (name == "large") return {{32, 64, 128, 256}, 2, {2048, 1024}};
  return {{16, 32, 64, 128}, 1, {2048, 1024}};
}

constexpr int kStemKernel = 7;
constexpr int kStemStride = 4;

}  // namespace

ImageNetworkImpl::ImageNetworkImpl(const Settings& settings) : ImageNetworkImpl(settings, AnyValues()) {
  InitialiseWeights();
  if (!settings.channels_last) return;
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : parameters()) {
    if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
  }
}

ImageNetworkImpl::ImageNetworkImpl(const Settings& settings, AnyValues) : settings_(settings) {
  Size size = SizeOf(settings.model_size);
  if (settings.hidden_width > 0) std::ranges::fill(size.hidden, settings.hidden_width);
  int channels = size.stages.front();
  int edge = ((settings.image_size + 3) / 4 + 1) / 2;  // after the stem and its pooling
  stem_ = register_module("stem", ConvNorm(settings, 3, channels, kStemKernel, kStemStride));
  for (const int wide : size.stages) {
    for (int block = 0; block < size.blocks; ++block) {
      const int stride = block == 0 && !blocks_.empty() ? 2 : 1;
      edge = (edge + stride - 1) / stride;
      const auto name = "block" + std::to_string(blocks_.size());
      blocks_.push_back(register_module(name, ResidualBlock(settings, channels, wide, stride)));
      channels = wide;
    }
  }
  edge_ = settings.image_size_varies ? edge : 0;
  int features = channels * edge * edge;
  for (const int wide : size.hidden) {
    const auto name = "hidden" + std::to_string(hidden_.size());
    hidden_.push_back(register_module(name, DenseNorm(settings, features, wide)));
    features = wide;
  }
  scores_ = register_module("scores", torch::nn::Linear(features, kClasses));
}

std::shared_ptr<torch::nn::Module> ImageNetworkImpl::clone(const std::optional<torch::Device>& device) const {
  const torch::NoGradGuard no_grad;
  auto copy = std::make_shared<ImageNetworkImpl>(settings_, AnyValues());
  const auto copied = [&device](const torch::Tensor& tensor) {
    return device && tensor.device() != *device ? tensor.to(*device) : tensor.clone();
  };
  const std::vector<torch::Tensor> from = parameters(), from_buffers = buffers();
  std::vector<torch::Tensor> to = copy->parameters(), to_buffers = copy->buffers();
  for (std::size_t i = 0; i < from.size(); ++i) to[i].set_data(copied(from[i]));
  for (std::size_t i = 0; i < from_buffers.size(); ++i) {
    const bool shared = device && from_buffers[i].device() == *device;
    to_buffers[i].set_data(shared ? from_buffers[i] : copied(from_buffers[i]));
  }
  copy->train(is_training());
  return copy;
}

torch::Tensor ImageNetworkImpl::forward(const torch::Tensor& images) {
  torch::Tensor x = torch::max_pool2d(Relu(stem_(images), settings_.relu_inplace), 3, 2, 1);
  for (ResidualBlock& block : blocks_) {
    auto run = [block](const torch::Tensor& input) mutable { return block(input); };
    x = settings_.checkpoint && is_training() && torch::GradMode::is_enabled() ? Recomputed(run, x) : run(x);
  }
  if (edge_ > 0) x = torch::adaptive_avg_pool2d(x, {edge_, edge_});
  x = x.flatten(1);
  for (DenseNorm& layer : hidden_) x = layer(x);
  return scores_(x);
}

void ImageNetworkImpl::InitialiseWeights() {
  const torch::NoGradGuard no_grad;
  // The layers' constructors used the generator, depending on the number of biases: reseed.
  torch::manual_seed(settings_.seed);
  for (const auto& item : named_parameters()) {
    torch::Tensor parameter = item.value();
    if (parameter.dim() > 1) torch::nn::init::kaiming_normal_(parameter);
    if (item.key().ends_with("conv.bias") || item.key().ends_with("linear.bias")) parameter.zero_();
  }
  scores_->bias.zero_();
}

bool ImageNetworkImpl::has_bias_before_norm() const {
  for (const auto& item : named_parameters()) {
    if (item.key().ends_with("conv.bias")) return true;
  }
  return false;
}

bool ImageNetworkImpl::is_channels_last() const {
  // The stem's weights distinguish the layouts: they have more than one channel and more than one pixel.
  return named_parameters()["stem.conv.weight"].is_contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace loopscope::train::image
