#include "workloads/common/optimizers.h"

#include <torch/nn/utils/clip_grad.h>

#include "workloads/common/list_adam.h"
#include "workloads/common/list_sgd.h"
#include "workloads/common/trust_optimizers.h"

namespace loopscope::train {
namespace {

constexpr double kMomentum = 0.9;

template <class Kind>
std::unique_ptr<torch::optim::Optimizer> MakeAdam(const CommonSettings& settings, Tensors parameters, bool switchable) {
  const typename Kind::Options options(settings.lr);
  if (settings.optimizer_impl == "single" && !switchable)
    return std::make_unique<typename Kind::Base>(std::move(parameters), options);
  return std::make_unique<ListAdam<Kind>>(std::move(parameters), options, ImplementationOf(settings.optimizer_impl));
}

std::unique_ptr<torch::optim::Optimizer> MakeSgd(const CommonSettings& settings, Tensors parameters, bool switchable) {
  const auto options = torch::optim::SGDOptions(settings.lr).momentum(settings.optimizer == "momentum" ? kMomentum : 0);
  if (settings.optimizer_impl == "single" && !switchable)
    return std::make_unique<torch::optim::SGD>(std::move(parameters), options);
  return std::make_unique<ListSgd>(std::move(parameters), options, ImplementationOf(settings.optimizer_impl));
}

Tensors Gradients(const Tensors& parameters) {
  Tensors gradients;
  for (const torch::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

// Scales all gradients by min(1, limit / norm) without reading the norm on the host.
void ClipNormOfList(const Tensors& gradients, double limit) {
  const torch::Tensor norm = torch::stack(at::_foreach_norm(gradients)).norm();
  at::_foreach_mul_(gradients, (limit / (norm + 1e-6)).clamp_max(1));
}

}  // namespace

std::unique_ptr<torch::optim::Optimizer> MakeOptimizer(const CommonSettings& settings, Tensors parameters,
                                                       bool switchable) {
  if (settings.optimizer == "adamw") return MakeAdam<AdamWOfTorch>(settings, std::move(parameters), switchable);
  if (settings.optimizer == "adam") return MakeAdam<AdamOfTorch>(settings, std::move(parameters), switchable);
  if (auto by_layer = MakeTrustOptimizer(settings.optimizer, settings.lr, parameters)) return by_layer;
  return MakeSgd(settings, std::move(parameters), switchable);
}

bool SetImplementation(torch::optim::Optimizer& optimizer, std::string_view implementation) {
  auto* lists = dynamic_cast<ListOptimizer*>(&optimizer);
  if (lists != nullptr) lists->implementation = ImplementationOf(implementation);
  return lists != nullptr;
}

void SetLearningRate(torch::optim::Optimizer& optimizer, double rate) {
  for (auto& group : optimizer.param_groups()) group.options().set_lr(rate);
}

void Clip(const CommonSettings& settings, const Tensors& parameters) {
  if (settings.clip == "none") return;
  const torch::NoGradGuard no_grad;
  const double limit = settings.clip_limit;
  const Tensors gradients = Gradients(parameters);
  if (gradients.empty()) return;
  if (settings.clip == "norm") {
    settings.clip_foreach ? ClipNormOfList(gradients, limit)
                          : static_cast<void>(torch::nn::utils::clip_grad_norm_(parameters, limit));
  } else if (settings.clip_foreach) {
    at::_foreach_clamp_min_(gradients, -limit);
    at::_foreach_clamp_max_(gradients, limit);
  } else {
    torch::nn::utils::clip_grad_value_(parameters, limit);
  }
}

}  // namespace loopscope::train
