#include "workloads/common/recompute.h"

#include <ATen/Context.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/custom_class.h>

#include "workloads/common/autocast.h"

namespace loopscope::train {
namespace {

at::Tensor RandomState(c10::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return generator.get_state();
}

void SetRandomState(c10::Device device, const at::Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state);
}

// Replays the random numbers from `state` on, and restores the generator afterwards.
class ReplayedDraws {
 public:
  ReplayedDraws(c10::Device device, const at::Tensor& state) : device_(device), before_(RandomState(device)) {
    SetRandomState(device, state);
  }
  ReplayedDraws(const ReplayedDraws&) = delete;
  ReplayedDraws& operator=(const ReplayedDraws&) = delete;
  ~ReplayedDraws() { SetRandomState(device_, before_); }

 private:
  c10::Device device_;
  at::Tensor before_;
};

// What backward needs to run the block again.
struct Remembered : torch::CustomClassHolder {
  Block block;
  at::Tensor random_state;
  std::optional<at::ScalarType> autocast;
};

// A block as an autograd function of its input. Its parameters get their gradients from a separate backward pass over
// the recomputed block.
class RecomputeFunction : public torch::autograd::Function<RecomputeFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input,
                            const c10::intrusive_ptr<Remembered>& remembered) {
    context->save_for_backward({input});
    context->saved_data["remembered"] = c10::IValue::make_capsule(remembered);
    return remembered->block(input);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto capsule = context->saved_data["remembered"].toCapsule();
    const auto& remembered = static_cast<const Remembered&>(*capsule);
    const at::Tensor input = context->get_saved_variables()[0].detach().requires_grad_();
    const at::AutoGradMode grad(true);
    at::Tensor output;
    {
      const AutocastScope autocast(input.device().type(), remembered.autocast);
      const ReplayedDraws draws(input.device(), remembered.random_state);
      output = remembered.block(input);
    }
    // Not torch::autograd::backward, whose root would be recorded as a loss.
    torch::autograd::Engine::get_default_engine().execute({torch::autograd::impl::gradient_edge(output)}, gradients,
                                                          /*keep_graph=*/false, /*create_graph=*/false,
                                                          /*accumulate_grad=*/true);
    return {input.grad(), at::Tensor()};
  }
};

}  // namespace

at::Tensor Recomputed(Block block, const at::Tensor& input) {
  auto remembered = c10::make_intrusive<Remembered>();
  remembered->block = std::move(block);
  remembered->random_state = RandomState(input.device());
  const auto device = input.device().type();
  if (at::autocast::is_autocast_enabled(device)) remembered->autocast = at::autocast::get_autocast_dtype(device);
  return RecomputeFunction::apply(input, remembered);
}

}  // namespace loopscope::train
