#include "workloads/train_image/layers.h"

namespace loopscope::train::image {
namespace {

bool HasBias(const Settings& settings) {
  return settings.norm == "none" || settings.bias_before_norm;
}

}  // namespace

torch::Tensor Relu(const torch::Tensor& input, bool inplace) {
  if (!inplace) return torch::relu(input);
  torch::Tensor output = input;
  return output.relu_();
}

ConvNormImpl::ConvNormImpl(const Settings& settings, int in, int out, int kernel, int stride) {
  const auto options =
      torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(HasBias(settings));
  conv_ = register_module("conv", torch::nn::Conv2d(options));
  if (settings.norm == "batch") norm_ = register_module("norm", torch::nn::BatchNorm2d(out));
}

torch::Tensor ConvNormImpl::forward(const torch::Tensor& input) {
  const torch::Tensor output = conv_(input);
  return norm_ ? norm_(output) : output;
}

DenseNormImpl::DenseNormImpl(const Settings& settings, int in, int out) : inplace_(settings.relu_inplace) {
  linear_ = register_module("linear", torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(HasBias(settings))));
  if (settings.norm == "batch") norm_ = register_module("norm", torch::nn::BatchNorm1d(out));
}

torch::Tensor DenseNormImpl::forward(const torch::Tensor& input) {
  const torch::Tensor output = linear_(input);
  return Relu(norm_ ? norm_(output) : output, inplace_);
}

ResidualBlockImpl::ResidualBlockImpl(const Settings& settings, int in, int out, int stride)
    : inplace_(settings.relu_inplace) {
  first_ = register_module("first", ConvNorm(settings, in, out, 3, stride));
  second_ = register_module("second", ConvNorm(settings, out, out, 3, 1));
  if (in != out || stride != 1) shortcut_ = register_module("shortcut", ConvNorm(settings, in, out, 1, stride));
}

torch::Tensor ResidualBlockImpl::forward(const torch::Tensor& input) {
  const torch::Tensor output = second_(Relu(first_(input), inplace_));
  return Relu(output + (shortcut_ ? shortcut_(input) : input), inplace_);
}

}  // namespace loopscope::train::image
