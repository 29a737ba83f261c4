// Computes a batch by train_image's network as a whole and in halves by replicas of it, for a test: on the CPU LibTorch
// replicates as on GPUs, where data_parallel scatters and gathers besides.
#include <fmt/format.h>
#include <torch/nn/parallel/data_parallel.h>

#include <algorithm>

#include "workloads/train_image/model.h"

using loopscope::train::image::ImageNetwork;
using loopscope::train::image::ImageNetworkImpl;
using loopscope::train::image::Settings;

namespace {

using Replicas = std::vector<torch::nn::ModuleHolder<ImageNetworkImpl>>;
using Tensors = std::vector<torch::Tensor>;

// The largest difference, as a part of the largest value.
double Apart(const Tensors& one, const Tensors& other) {
  TORCH_CHECK(one.size() == other.size());
  double apart = 0, largest = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    apart = std::max(apart, (one[i] - other[i]).abs().max().item<double>());
    largest = std::max(largest, one[i].abs().max().item<double>());
  }
  return apart / largest;
}

Tensors Gradients(const ImageNetwork& network) {
  Tensors gradients;
  for (const torch::Tensor& parameter : network->parameters()) gradients.push_back(parameter.grad());
  return gradients;
}

torch::Tensor Images(const Settings& settings) {
  return torch::randn({8, 3, settings.image_size, settings.image_size});
}

torch::Tensor InHalves(Replicas& replicas, const torch::Tensor& images) {
  return torch::cat(torch::nn::parallel::parallel_apply(replicas, images.chunk(2)));
}

const std::vector<torch::Device> kDevices(2, torch::Device(torch::kCPU));

// How far the gradients of both ways lie apart.
void CompareGradients(const Settings& settings) {
  ImageNetwork whole(settings), replicated(settings);
  const torch::Tensor images = Images(settings);
  whole(images).square().sum().backward();
  Replicas replicas = torch::nn::parallel::replicate(replicated, kDevices);
  InHalves(replicas, images).square().sum().backward();
  fmt::print("gradients {:.9f}\n", Apart(Gradients(whole), Gradients(replicated)));
}

// Whether the network learns the running statistics that a replica on its device meets.
void FollowStatistics(const Settings& settings) {
  ImageNetwork network(settings);
  Tensors before;
  for (const torch::Tensor& one : network->buffers()) before.push_back(one.clone());
  Replicas replicas = torch::nn::parallel::replicate(network, kDevices);
  InHalves(replicas, Images(settings));
  fmt::print("statistics {}\n",
             Apart(network->buffers(), before) > 0 && Apart(network->buffers(), replicas.front()->buffers()) == 0);
}

}  // namespace

int main() {
  Settings settings;
  settings.model_size = "small";
  settings.image_size = 32;
  FollowStatistics(settings);
  settings.norm = "none";
  CompareGradients(settings);
}
