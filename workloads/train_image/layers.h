// The network's building blocks.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "workloads/train_image/settings.h"

namespace loopscope::train::image {

torch::Tensor Relu(const torch::Tensor& input, bool inplace);

// A convolution and, with norm=batch, the batch norm after it.
class ConvNormImpl : public torch::nn::Module {
 public:
  ConvNormImpl(const Settings& settings, int in, int out, int kernel, int stride);
  torch::Tensor forward(const torch::Tensor& input);

 private:
  torch::nn::Conv2d conv_{nullptr};
  torch::nn::BatchNorm2d norm_{nullptr};
};
TORCH_MODULE(ConvNorm);

// A fully connected layer, its norm and its ReLU.
class DenseNormImpl : public torch::nn::Module {
 public:
  DenseNormImpl(const Settings& settings, int in, int out);
  torch::Tensor forward(const torch::Tensor& input);

 private:
  bool inplace_;
  torch::nn::Linear linear_{nullptr};
  torch::nn::BatchNorm1d norm_{nullptr};
};
TORCH_MODULE(DenseNorm);

// Two convolutions with a shortcut (He et al., arXiv 1512.03385).
class ResidualBlockImpl : public torch::nn::Module {
 public:
  ResidualBlockImpl(const Settings& settings, int in, int out, int stride);
  torch::Tensor forward(const torch::Tensor& input);

 private:
  bool inplace_;
  ConvNorm first_{nullptr}, second_{nullptr}, shortcut_{nullptr};
};
TORCH_MODULE(ResidualBlock);

}  // namespace loopscope::train::image
