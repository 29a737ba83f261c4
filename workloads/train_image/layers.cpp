#include "workloads/train_image/layers.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include "workloads/train_image/autocast.h"

namespace loopscope::train_image {
namespace {

bool HasBias(const Settings& settings) {
  return settings.norm == "none" || settings.bias_before_norm;
}

// A block as an autograd function: inputs are the block's input and its parameters, so that both get gradients.
class RecomputeFunction : public torch::autograd::Function<RecomputeFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& input,
                               const std::vector<torch::Tensor>& parameters, ResidualBlockImpl* block) {
    context->save_for_backward({input});
    context->saved_data["block"] = reinterpret_cast<std::int64_t>(block);
    context->saved_data["autocast"] = at::autocast::is_autocast_enabled(at::kCPU);
    context->saved_data["parameters"] = std::int64_t(parameters.size());
    return block->forward(input);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    auto* block = reinterpret_cast<ResidualBlockImpl*>(context->saved_data["block"].toInt());
    const torch::Tensor input = context->get_saved_variables()[0].detach().requires_grad_();
    std::vector<torch::Tensor> sources = block->parameters();
    sources.insert(sources.begin(), input);
    const at::AutoGradMode grad(true);
    torch::Tensor output;
    {
      const AutocastScope autocast(context->saved_data["autocast"].toBool());
      output = block->forward(input);
    }
    auto found = torch::autograd::grad({output}, sources, gradients);
    found.emplace_back();  // the block itself has no gradient
    return found;
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
  return RecomputeFunction::apply(input, block->parameters(), block.get());
}

}  // namespace loopscope::train_image
