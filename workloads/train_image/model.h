// The network: a strided stem, residual stages that halve the picture, and a wide classifier over what is left.
#pragma once

#include <vector>

#include "workloads/train_image/layers.h"

namespace loopscope::train::image {

class ImageNetworkImpl : public torch::nn::Module {
 public:
  // With normal weights after He et al. (arXiv 1502.01852) and zero biases: the same with biases as without.
  explicit ImageNetworkImpl(const Settings& settings);

  // Images (batch, 3, size, size) to class scores (batch, classes).
  torch::Tensor forward(const torch::Tensor& images);

  // Read back from the layers.
  bool has_bias_before_norm() const;
  bool is_channels_last() const;

 private:
  void InitialiseWeights();

  bool inplace_, recompute_;
  int seed_;
  int edge_ = 0;  // of the classifier's input where pictures vary in size; 0: as they come
  ConvNorm stem_{nullptr};
  std::vector<ResidualBlock> blocks_;
  std::vector<DenseNorm> hidden_;
  torch::nn::Linear scores_{nullptr};
};
TORCH_MODULE(ImageNetwork);

}  // namespace loopscope::train::image
