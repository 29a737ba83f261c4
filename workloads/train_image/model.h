// The network: a strided stem, residual stages that halve the picture, and a wide classifier over what is left.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "workloads/common/ranks/replicas.h"
#include "workloads/train_image/layers.h"

namespace loopscope::train::image {

class ImageNetworkImpl : public ReplicatedModule {
  struct AnyValues {};

 public:
  // With normal weights after He et al. (arXiv 1502.01852) and zero biases: the same with biases as without. The
  // settings must outlive it.
  explicit ImageNetworkImpl(const Settings& settings);
  ImageNetworkImpl(const Settings& settings, AnyValues);

  // Images (batch, 3, size, size) to class scores (batch, classes).
  torch::Tensor forward(const torch::Tensor& images) override;

  // A network with copies of the values; on this one's device it shares the running statistics of the norms, which
  // replicas would otherwise learn for themselves and lose.
  std::shared_ptr<torch::nn::Module> clone(const std::optional<torch::Device>& device = std::nullopt) const override;

  // Read back from the layers.
  bool has_bias_before_norm() const;
  bool is_channels_last() const;

 private:
  void InitialiseWeights();

  const Settings& settings_;
  int edge_ = 0;  // of the classifier's input where pictures vary in size; 0: as they come
  ConvNorm stem_{nullptr};
  std::vector<ResidualBlock> blocks_;
  std::vector<DenseNorm> hidden_;
  torch::nn::Linear scores_{nullptr};
};
TORCH_MODULE(ImageNetwork);

}  // namespace loopscope::train::image
