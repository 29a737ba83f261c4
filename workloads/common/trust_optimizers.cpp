#include "workloads/common/trust_optimizers.h"

namespace loopscope::train {
namespace {

constexpr double kMomentum = 0.9, kNovoGradDecay = 0.98, kTiny = 1e-8;

// a / b if both are nonzero, else 1: biases may be all zero.
torch::Tensor Ratio(const torch::Tensor& a, const torch::Tensor& b) {
  return torch::where((a > 0).logical_and(b > 0), a / (b + kTiny), torch::ones_like(a));
}

template <class Function>
void ForEachGradient(torch::optim::Optimizer& optimizer, Function function) {
  std::size_t index = 0;
  for (auto& group : optimizer.param_groups()) {
    for (torch::Tensor& parameter : group.params()) {
      if (parameter.grad().defined()) function(parameter, index);
      ++index;
    }
  }
}

}  // namespace

torch::Tensor Lars::step(LossClosure closure) {
  {
    const torch::NoGradGuard no_grad;
    ForEachGradient(*this, [](torch::Tensor& parameter, std::size_t) {
      parameter.grad().mul_(Ratio(parameter.norm(), parameter.grad().norm()));
    });
  }
  return SGD::step(std::move(closure));
}

torch::Tensor Lamb::step(LossClosure closure) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> before;
  ForEachGradient(*this, [&](torch::Tensor& parameter, std::size_t) { before.push_back(parameter.clone()); });
  torch::Tensor loss = AdamW::step(std::move(closure));
  const double lr = param_groups().front().options().get_lr();
  std::size_t at = 0;
  ForEachGradient(*this, [&](torch::Tensor& parameter, std::size_t) {
    const torch::Tensor& old = before[at++];
    const torch::Tensor update = parameter - old;
    // AdamW's update already includes the learning rate; a rate of zero changes nothing.
    if (lr > 0) parameter.copy_(old + update * Ratio(old.norm(), update.norm() / lr));
  });
  return loss;
}

torch::Tensor NovoGrad::step(LossClosure closure) {
  {
    const torch::NoGradGuard no_grad;
    ForEachGradient(*this, [&](torch::Tensor& parameter, std::size_t index) {
      if (squares_.size() <= index) squares_.resize(index + 1);
      torch::Tensor& square = squares_[index];
      const torch::Tensor now = parameter.grad().square().sum();
      square = square.defined() ? kNovoGradDecay * square + (1 - kNovoGradDecay) * now : now;
      parameter.grad().div_(square.sqrt() + kTiny);
    });
  }
  return SGD::step(std::move(closure));
}

std::unique_ptr<torch::optim::Optimizer> MakeTrustOptimizer(const std::string& name, double lr,
                                                            std::vector<torch::Tensor> parameters) {
  const auto sgd = torch::optim::SGDOptions(lr).momentum(kMomentum);
  if (name == "lars") return std::make_unique<Lars>(std::move(parameters), sgd);
  if (name == "lamb") return std::make_unique<Lamb>(std::move(parameters), torch::optim::AdamWOptions(lr));
  if (name == "novograd") return std::make_unique<NovoGrad>(std::move(parameters), sgd);
  return nullptr;
}

}  // namespace loopscope::train
