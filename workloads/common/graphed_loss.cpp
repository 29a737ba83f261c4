#include "workloads/common/graphed_loss.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace loopscope::train {
namespace {

using Tensors = std::vector<torch::Tensor>;

bool Alike(const torch::Tensor& one, const torch::Tensor& other) {
  if (one.defined() != other.defined()) return false;
  return !one.defined() || (one.sizes() == other.sizes() && one.scalar_type() == other.scalar_type());
}

bool Alike(const Batch& one, const Batch& other) {
  return Alike(one.inputs, other.inputs) && Alike(one.labels, other.labels) && Alike(one.padding, other.padding);
}

Batch Copied(const Batch& batch) {
  const auto copy = [](const torch::Tensor& tensor) { return tensor.defined() ? tensor.clone() : tensor; };
  return {copy(batch.inputs), copy(batch.labels), copy(batch.padding)};
}

void CopyInto(const Batch& to, const Batch& from) {
  to.inputs.copy_(from.inputs, /*non_blocking=*/true);
  to.labels.copy_(from.labels, /*non_blocking=*/true);
  if (to.padding.defined()) to.padding.copy_(from.padding, /*non_blocking=*/true);
}

}  // namespace

struct GraphedLoss::Recorded : torch::CustomClassHolder {
  std::unique_ptr<DeviceGraph> forward, backward;
  std::vector<torch::Tensor> parameters;
  Batch batch;                           // what forward reads
  torch::Tensor loss;                    // what it makes
  torch::Tensor root;                    // the loss's gradient, which backward reads
  std::vector<torch::Tensor> gradients;  // the parameters', which it makes; undefined where the loss has none
};

// Launches the graphs where autograd would run the passes. The parameters' gradients reach them as any others do.
class GraphedLoss::Passes : public torch::autograd::Function<Passes> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, at::TensorList,
                            const c10::intrusive_ptr<Recorded>& recorded) {
    context->saved_data["recorded"] = c10::IValue::make_capsule(recorded);
    recorded->forward->Launch();
    return recorded->loss.detach().clone();
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto capsule = context->saved_data["recorded"].toCapsule();
    const auto& recorded = static_cast<const Recorded&>(*capsule);
    KeepGradients(recorded);
    recorded.root.copy_(gradients[0], /*non_blocking=*/true);
    recorded.backward->Launch();
    torch::autograd::variable_list results;
    // New tensors on the same memory, so that autograd takes them as they are instead of copying them.
    for (const torch::Tensor& one : recorded.gradients) results.push_back(one.defined() ? one.detach() : one);
    results.emplace_back();  // of `recorded`
    return results;
  }

 private:
  // While gradients are accumulated, those of the previous batch lie where the graph writes.
  static void KeepGradients(const Recorded& recorded) {
    for (std::size_t i = 0; i < recorded.parameters.size(); ++i) {
      torch::Tensor& gradient = recorded.parameters[i].mutable_grad();
      const torch::Tensor& written = recorded.gradients[i];
      if (gradient.defined() && written.defined() && gradient.is_alias_of(written)) gradient = gradient.clone();
    }
  }
};

GraphedLoss::GraphedLoss(Loss loss, std::vector<torch::Tensor> parameters, MakeDeviceGraph make)
    : loss_(std::move(loss)), parameters_(std::move(parameters)), make_(make) {}

GraphedLoss::~GraphedLoss() = default;

torch::Tensor GraphedLoss::operator()(const Batch& batch) {
  if (!recorded_ && !Steady(batch)) return loss_(batch);
  if (!recorded_) recorded_ = Record(batch);
  if (!Alike(recorded_->batch, batch)) return loss_(batch);
  CopyInto(recorded_->batch, batch);
  return Passes::apply(at::TensorList(parameters_), recorded_);
}

bool GraphedLoss::Steady(const Batch& batch) {
  if (alike_ > 0 && !Alike(last_, batch)) alike_ = 0;
  if (alike_ == kSteadyBatches) return true;
  last_ = batch;
  ++alike_;
  return false;
}

c10::intrusive_ptr<GraphedLoss::Recorded> GraphedLoss::Record(const Batch& batch) const {
  auto recorded = c10::make_intrusive<Recorded>();
  recorded->parameters = parameters_;
  recorded->batch = Copied(batch);
  try {
    recorded->forward.reset(make_(nullptr));
    recorded->forward->Record([this, to = recorded.get()] { return Tensors{to->loss = loss_(to->batch)}; });
    recorded->root = torch::empty_like(recorded->loss);
    recorded->backward.reset(make_(recorded->forward.get()));
    recorded->backward->Record([to = recorded.get()] {
      return to->gradients = torch::autograd::grad({to->loss}, to->parameters, {to->root},
                                                   /*retain_graph=*/std::nullopt, /*create_graph=*/false,
                                                   /*allow_unused=*/true);
    });
  } catch (const c10::Error& error) {
    const std::string why = error.what_without_backtrace();
    throw std::runtime_error(fmt::format("cuda_graphs=on: a step cannot be recorded: {}: set cuda_graphs=off",
                                         why.substr(0, why.find('\n'))));
  }
  return recorded;
}

}  // namespace loopscope::train
