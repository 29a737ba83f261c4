// Adam and AdamW steps on lists of tensors: foreach (one operator per line of the formula) and fused (one kernel for
// all). They derive from torch::optim's classes and keep their options and state.
#pragma once

#include <ATen/Functions.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "probes/loopscope.h"

namespace loopscope::train {

using Tensors = std::vector<torch::Tensor>;

// Reports a step to the probe that does not run in torch::optim's own step().
class StepMark {
 public:
  StepMark(const char* name, const torch::optim::Optimizer& optimizer, std::size_t parameters)
      : token_(OptimizerStepBegin(name, parameters, &optimizer)) {}
  StepMark(const StepMark&) = delete;
  StepMark& operator=(const StepMark&) = delete;
  ~StepMark() { OptimizerStepEnd(token_); }

 private:
  void* token_;
};

enum class Implementation { kSingle, kForeach, kFused };

inline Implementation ImplementationOf(std::string_view name) {
  if (name == "single") return Implementation::kSingle;
  return name == "fused" ? Implementation::kFused : Implementation::kForeach;
}

// What the list optimizers share; the single implementation is torch::optim's own step.
struct ListOptimizer {
  explicit ListOptimizer(Implementation first) : implementation(first) {}
  virtual ~ListOptimizer() = default;
  Implementation implementation;
};

inline std::size_t CountParameters(torch::optim::Optimizer& optimizer) {
  std::size_t count = 0;
  for (const auto& group : optimizer.param_groups()) count += group.params().size();
  return count;
}

template <class State>
State& StateOf(torch::optim::Optimizer& optimizer, const torch::Tensor& parameter) {
  auto& slot = optimizer.state()[parameter.unsafeGetTensorImpl()];
  if (!slot) slot = std::make_unique<State>();
  return static_cast<State&>(*slot);
}

struct AdamOfTorch {
  using Base = torch::optim::Adam;
  using Options = torch::optim::AdamOptions;
  using State = torch::optim::AdamParamState;
  static constexpr char kName[] = "Adam";
  static constexpr bool kDecoupled = false;  // decay is part of the gradient
};

struct AdamWOfTorch {
  using Base = torch::optim::AdamW;
  using Options = torch::optim::AdamWOptions;
  using State = torch::optim::AdamWParamState;
  static constexpr char kName[] = "AdamW";
  static constexpr bool kDecoupled = true;
};

// Adam (Kingma and Ba, arXiv 1412.6980) or AdamW (Loshchilov and Hutter, arXiv 1711.05101), without amsgrad.
template <class Kind>
class ListAdam : public Kind::Base, public ListOptimizer {
 public:
  using typename Kind::Base::LossClosure;
  ListAdam(Tensors parameters, typename Kind::Options options, Implementation first)
      : Kind::Base(std::move(parameters), options), ListOptimizer(first) {}

  torch::Tensor step(LossClosure closure = nullptr) override {
    if (implementation == Implementation::kSingle) return Kind::Base::step(std::move(closure));
    const StepMark mark(Kind::kName, *this, CountParameters(*this));
    torch::Tensor loss;
    if (closure) loss = closure();
    const torch::NoGradGuard no_grad;
    for (auto& group : this->param_groups()) {
      const auto& options = static_cast<const typename Kind::Options&>(group.options());
      Lists lists = Gather(group);
      if (lists.parameters.empty()) continue;
      implementation == Implementation::kFused ? Fused(lists, options) : Foreach(lists, options);
    }
    return loss;
  }

 private:
  struct Lists {
    Tensors parameters, gradients, first, second;  // first and second moments
    double step = 0;                               // the number that this step has, from 1
  };

  Lists Gather(const torch::optim::OptimizerParamGroup& group) {
    Lists lists;
    for (const torch::Tensor& parameter : group.params()) {
      if (!parameter.grad().defined()) continue;
      auto& state = StateOf<typename Kind::State>(*this, parameter);
      if (!state.exp_avg().defined()) {
        state.exp_avg(torch::zeros_like(parameter, at::MemoryFormat::Preserve));
        state.exp_avg_sq(torch::zeros_like(parameter, at::MemoryFormat::Preserve));
      }
      state.step(state.step() + 1);
      lists.step = static_cast<double>(state.step());
      lists.parameters.push_back(parameter);
      lists.gradients.push_back(parameter.grad());
      lists.first.push_back(state.exp_avg());
      lists.second.push_back(state.exp_avg_sq());
    }
    return lists;
  }

  static void Fused(Lists& lists, const typename Kind::Options& options) {
    // The kernel only reads the step numbers, so all parameters share one.
    const auto number = torch::TensorOptions(lists.parameters.front().device()).dtype(torch::kFloat);
    const Tensors steps(lists.parameters.size(), torch::full({}, lists.step, number));
    const auto [beta1, beta2] = options.betas();
    const auto run = [&](auto kernel) {
      kernel(lists.parameters, lists.gradients, lists.first, lists.second, Tensors{}, steps, options.lr(), beta1, beta2,
             options.weight_decay(), options.eps());
    };
    if constexpr (Kind::kDecoupled) {
      run([](const auto&... args) { at::_fused_adamw_(args..., /*amsgrad=*/false, /*maximize=*/false); });
    } else {
      run([](const auto&... args) { at::_fused_adam_(args..., /*amsgrad=*/false, /*maximize=*/false); });
    }
  }

  static void Foreach(Lists& lists, const typename Kind::Options& options) {
    const auto [beta1, beta2] = options.betas();
    const double decay = options.weight_decay();
    if (Kind::kDecoupled) at::_foreach_mul_(lists.parameters, 1 - options.lr() * decay);
    if (!Kind::kDecoupled && decay != 0) {
      lists.gradients = at::_foreach_add(lists.gradients, lists.parameters, decay);
    }
    at::_foreach_lerp_(lists.first, lists.gradients, 1 - beta1);
    at::_foreach_mul_(lists.second, beta2);
    at::_foreach_addcmul_(lists.second, lists.gradients, lists.gradients, 1 - beta2);
    Tensors divisors = at::_foreach_sqrt(lists.second);
    at::_foreach_div_(divisors, std::sqrt(1 - std::pow(beta2, lists.step)));
    at::_foreach_add_(divisors, options.eps());
    at::_foreach_addcdiv_(lists.parameters, lists.first, divisors, -options.lr() / (1 - std::pow(beta1, lists.step)));
  }
};

}  // namespace loopscope::train
