#include "workloads/train_image/layers.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include "workloads/train_image/autocast.h"

namespace loopscope::train_image {
namespace {

bool HasBias(const Settings& settings) {
  return settings.norm == "none" || settings.bias_before_norm;
}

// A block as an autograd function of its input. Its parameters get their gradients from a backward pass of their own
// over the recomputed block.
class RecomputeFunction : public torch::autograd::Function<RecomputeFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& input,
                               ResidualBlockImpl* block) {
    context->save_for_backward({input});
    context->saved_data["block"] = reinterpret_cast<std::int64_t>(block);
    context->saved_data["autocast"] = at::autocast::is_autocast_enabled(at::kCPU);
    return block->forward(input);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    auto* block = reinterpret_cast<ResidualBlockImpl*>(context->saved_data["block"].toInt());
    const torch::Tensor input = context->get_saved_variables()[0].detach().requires_grad_();
    const at::AutoGradMode grad(true);
    torch::Tensor output;
    {
      const AutocastScope autocast(context->saved_data["autocast"].toBool());
      output = block->forward(input);
    }
    // Not through torch::autograd::backward: its root would be taken for a loss.
    torch::autograd::Engine::get_default_engine().execute({torch::autograd::impl::gradient_edge(output)}, gradients,
                                                          /*keep_graph=*/false, /*create_graph=*/false,
                                                          /*accumulate_grad=*/true);
    return {input.grad(), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor Relu(const torch::Tensor& input, bool inplace) {
  if (!inplace) return torch::relu(input);
  torch::Tensor output = input;
  return output.relu_();
}

ConvNormImpl::ConvNormImpl(const Settings& settings, int in, int out, int kernel, int stride) {
  const auto options =
      torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(HasBias(settings));
  conv_ = register_module("conv", torch::nn::Conv2d(options));
  if (settings.norm == "batch") norm_ = register_module("norm", torch::nn::BatchNorm2d(out));
}

torch::Tensor ConvNormImpl::forward(const torch::Tensor& input) {
  const torch::Tensor output = conv_(input);
  return norm_ ? norm_(output) : output;
}

DenseNormImpl::DenseNormImpl(const Settings& settings, int in, int out) : inplace_(settings.relu_inplace) {
  linear_ = register_module("linear", torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(HasBias(settings))));
  if (settings.norm == "batch") norm_ = register_module("norm", torch::nn::BatchNorm1d(out));
}

torch::Tensor DenseNormImpl::forward(const torch::Tensor& input) {
  const torch::Tensor output = linear_(input);
  return Relu(norm_ ? norm_(output) : output, inplace_);
}

ResidualBlockImpl::ResidualBlockImpl(const Settings& settings, int in, int out, int stride)
    : inplace_(settings.relu_inplace) {
  first_ = register_module("first", ConvNorm(settings, in, out, 3, stride));
  second_ = register_module("second", ConvNorm(settings, out, out, 3, 1));
  if (in != out || stride != 1) shortcut_ = register_module("shortcut", ConvNorm(settings, in, out, 1, stride));
}

torch::Tensor ResidualBlockImpl::forward(const torch::Tensor& input) {
  const torch::Tensor output = second_(Relu(first_(input), inplace_));
  return Relu(output + (shortcut_ ? shortcut_(input) : input), inplace_);
}

torch::Tensor Recomputed(ResidualBlock block, const torch::Tensor& input) {
  return RecomputeFunction::apply(input, block.get());
}

}  // namespace loopscope::train_image
