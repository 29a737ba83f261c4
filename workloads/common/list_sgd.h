// SGD with momentum on lists of tensors: foreach and fused.
#pragma once

#include "workloads/common/list_adam.h"

namespace loopscope::train {

// torch::optim::SGD without dampening and Nesterov; a momentum buffer starts at zero, so that it begins as the
// gradient.
class ListSgd : public torch::optim::SGD, public ListOptimizer {
 public:
  ListSgd(Tensors parameters, torch::optim::SGDOptions options, Implementation first)
      : torch::optim::SGD(std::move(parameters), options), ListOptimizer(first) {}

  torch::Tensor step(LossClosure closure = nullptr) override {
    if (implementation == Implementation::kSingle) return torch::optim::SGD::step(std::move(closure));
    const StepMark mark("SGD", *this, CountParameters(*this));
    torch::Tensor loss;
    if (closure) loss = closure();
    const torch::NoGradGuard no_grad;
    for (auto& group : param_groups()) {
      const auto& options = static_cast<const torch::optim::SGDOptions&>(group.options());
      Lists lists = Gather(group, options.momentum() != 0);
      if (lists.parameters.empty()) continue;
      implementation == Implementation::kFused ? Fused(lists, options) : Foreach(lists, options);
    }
    return loss;
  }

 private:
  struct Lists {
    Tensors parameters, gradients, momenta;
  };

  Lists Gather(const torch::optim::OptimizerParamGroup& group, bool momentum) {
    Lists lists;
    for (const torch::Tensor& parameter : group.params()) {
      if (!parameter.grad().defined()) continue;
      lists.parameters.push_back(parameter);
      lists.gradients.push_back(parameter.grad());
      if (!momentum) continue;
      auto& state = StateOf<torch::optim::SGDParamState>(*this, parameter);
      if (!state.momentum_buffer().defined()) {
        state.momentum_buffer(torch::zeros_like(parameter, at::MemoryFormat::Preserve));
      }
      lists.momenta.push_back(state.momentum_buffer());
    }
    return lists;
  }

  static void Fused(const Lists& lists, const torch::optim::SGDOptions& options) {
    at::_fused_sgd_(lists.parameters, lists.gradients, lists.momenta, options.weight_decay(), options.momentum(),
                    options.lr(), /*dampening=*/0., /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false);
  }

  static void Foreach(Lists& lists, const torch::optim::SGDOptions& options) {
    if (options.weight_decay() != 0) {
      lists.gradients = at::_foreach_add(lists.gradients, lists.parameters, options.weight_decay());
    }
    if (!lists.momenta.empty()) {
      at::_foreach_mul_(lists.momenta, options.momentum());
      at::_foreach_add_(lists.momenta, lists.gradients);
      lists.gradients = lists.momenta;
    }
    at::_foreach_add_(lists.parameters, lists.gradients, -options.lr());
  }
};

}  // namespace loopscope::train
