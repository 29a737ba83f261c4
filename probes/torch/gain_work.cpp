#include "probes/torch/gain_work.h"

#include <ATen/core/ivalue.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

namespace loopscope {
namespace {

using Call = Work::Call;
using Sizes = std::vector<std::int64_t>;

struct Kind {
  std::string_view name;
  Call call;
  std::size_t operands;
};

// By Call.
constexpr std::array<Kind, 6> kKinds{{{"aten::mm", Call::kMm, 2},
                                      {"aten::addmm", Call::kAddmm, 3},
                                      {"aten::bmm", Call::kBmm, 2},
                                      {"aten::baddbmm", Call::kBaddbmm, 3},
                                      {"aten::convolution", Call::kConvolution, 3},
                                      {"aten::convolution_backward", Call::kConvolutionBackward, 3}}};

const Kind& KindOf(const Work& work) {
  return kKinds[static_cast<std::size_t>(work.call)];
}

bool IsConvolution(const Work& work) {
  return work.call >= Call::kConvolution;
}

double Product(const Sizes& sizes, std::size_t from = 0) {
  return std::accumulate(sizes.begin() + static_cast<std::ptrdiff_t>(std::min(from, sizes.size())), sizes.end(), 1.0,
                         [](double product, std::int64_t size) { return product * static_cast<double>(size); });
}

bool ReadOperand(const c10::IValue& input, Work& work) {
  Work::Operand& operand = work.operands.emplace_back();
  if (input.isNone()) return true;
  if (!input.isTensor()) return false;
  const at::Tensor& tensor = input.toTensor();
  if (!tensor.defined()) return true;
  const bool plain = tensor.is_cpu() && tensor.scalar_type() == at::kFloat && tensor.layout() == c10::kStrided &&
                     !tensor.is_nested() && !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
  if (!plain || tensor.dim() == 0 || tensor.numel() == 0) return false;
  operand = {tensor.sizes().vec(), tensor.strides().vec()};
  return true;
}

bool ReadList(const c10::IValue& input, Sizes& list) {
  if (!input.isIntList()) return false;
  list = input.toIntVector();
  return true;
}

// The arguments after the operands of aten::convolution and aten::convolution_backward.
bool ReadConvolution(c10::ArrayRef<const c10::IValue> inputs, Work& work) {
  std::size_t at = 3;
  if (work.call == Call::kConvolutionBackward) {
    if (inputs.size() < 11 || !inputs[10].isBoolList()) return false;
    if (!inputs[at].isNone() && !ReadList(inputs[at], work.bias_sizes)) return false;
    const auto mask = inputs[10].toBoolList();
    for (std::size_t i = 0; i < std::min(mask.size(), work.output_mask.size()); ++i) work.output_mask[i] = mask[i];
    ++at;
  }
  if (inputs.size() < at + 6 || !inputs[at + 3].isBool() || !inputs[at + 5].isInt()) return false;
  work.transposed = inputs[at + 3].toBool();
  work.groups = inputs[at + 5].toInt();
  return ReadList(inputs[at], work.stride) && ReadList(inputs[at + 1], work.padding) &&
         ReadList(inputs[at + 2], work.dilation) && ReadList(inputs[at + 4], work.output_padding);
}

// The output positions of a convolution, in all images of the batch.
double OutputPositions(const Work& work) {
  if (work.call == Call::kConvolutionBackward) {
    const Sizes& gradient = work.operands[0].sizes;
    return static_cast<double>(gradient[0]) * Product(gradient, 2);
  }
  const Sizes &input = work.operands[0].sizes, &weight = work.operands[1].sizes;
  double positions = static_cast<double>(input[0]);
  for (std::size_t i = 2; i < std::min(input.size(), weight.size()); ++i) {
    const auto of = [&](const Sizes& list) { return list.empty() ? 0 : list[std::min(i - 2, list.size() - 1)]; };
    const std::int64_t reach = of(work.dilation) * (weight[i] - 1) + 1,
                       stride = std::max<std::int64_t>(of(work.stride), 1);
    positions *= static_cast<double>(std::max<std::int64_t>((input[i] + 2 * of(work.padding) - reach) / stride + 1, 1));
  }
  return positions;
}

// Input positions for a transposed one: each uses the whole kernel.
double Positions(const Work& work) {
  if (!work.transposed) return OutputPositions(work);
  const Sizes& input = work.operands[work.call == Call::kConvolutionBackward ? 1 : 0].sizes;
  return static_cast<double>(input[0]) * Product(input, 2);
}

// One dimension in all the operands that have it, as (operand, dimension).
using Dimension = std::vector<std::pair<std::size_t, std::size_t>>;

// The dimensions that can be made smaller: the batch of a convolution, all of a product.
std::vector<Dimension> Dimensions(const Work& work) {
  if (work.call == Call::kConvolution) return {{{0, 0}}};
  if (work.call == Call::kConvolutionBackward) return {{{0, 0}, {1, 0}}};
  const std::size_t a = work.operands.size() - 2, b = a + 1, last = work.operands[a].sizes.size() - 1;
  std::vector<Dimension> all{{{a, last - 1}}, {{a, last}, {b, last - 1}}, {{b, last}}};
  if (last == 2) all.push_back({{a, 0}, {b, 0}});
  if (a == 0) return all;
  // The addend may have fewer dimensions, or sizes of 1.
  const Sizes& added = work.operands[0].sizes;
  const auto shares = [&](std::size_t from_last) {
    return added.size() > from_last && added[added.size() - 1 - from_last] > 1;
  };
  if (shares(1)) all[0].emplace_back(0, added.size() - 2);
  if (shares(0)) all[2].emplace_back(0, added.size() - 1);
  if (last == 2 && shares(2)) all[3].emplace_back(0, 0);
  return all;
}

}  // namespace

std::optional<Work> WorkOf(const at::RecordFunction& function, bool in_backward) {
  const std::string_view name = function.name();
  const auto kind = std::ranges::find(kKinds, name, &Kind::name);
  const auto inputs = function.inputs();
  if (kind == kKinds.end() || inputs.size() < kind->operands) return std::nullopt;
  Work work;
  work.call = kind->call;
  work.in_backward = in_backward;
  for (std::size_t i = 0; i < kind->operands; ++i) {
    if (!ReadOperand(inputs[i], work)) return std::nullopt;
    const bool optional = i == 2 && kind->call == Call::kConvolution;
    if (work.operands.back().sizes.empty() && !optional) return std::nullopt;
  }
  if (IsConvolution(work) && !ReadConvolution(inputs, work)) return std::nullopt;
  return work;
}

double Operations(const Work& work) {
  const std::size_t b = work.operands.size() - 1;
  switch (work.call) {
    case Call::kConvolution:
      return 2 * Product(work.operands[1].sizes) * Positions(work);
    case Call::kConvolutionBackward:
      return 4 * Product(work.operands[2].sizes) * Positions(work);
    default:
      return 2 * Product(work.operands[b - 1].sizes) * static_cast<double>(work.operands[b].sizes.back());
  }
}

Work ShrunkTo(double operations, Work work) {
  while (Operations(work) > operations) {
    std::vector<Dimension> dimensions = Dimensions(work);
    const auto size = [&](const Dimension& one) { return work.operands[one[0].first].sizes[one[0].second]; };
    const auto largest = std::ranges::max_element(dimensions, {}, size);
    if (size(*largest) < 2) return work;
    for (const auto& [operand, dimension] : *largest) work.operands[operand].sizes[dimension] /= 2;
  }
  return work;
}

std::string TextOf(const Work& work) {
  std::string text(KindOf(work).name);
  for (std::size_t i = 0; i < work.operands.size(); ++i) {
    text += i == 0 ? " " : ";";
    if (work.operands[i].sizes.empty()) {
      text += "-";
      continue;
    }
    text += "f32[";
    const Sizes& sizes = work.operands[i].sizes;
    for (std::size_t n = 0; n < sizes.size(); ++n) text += (n == 0 ? "" : ",") + std::to_string(sizes[n]);
    text += "]";
  }
  return text;
}

std::vector<at::Tensor> OperandsFor(const Work& work) {
  std::vector<at::Tensor> tensors;
  for (const Work::Operand& operand : work.operands) {
    at::Tensor& tensor = tensors.emplace_back();
    if (operand.sizes.empty()) continue;
    // Expanded ones share elements: strides are 0.
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < operand.sizes.size(); ++i) elements += (operand.sizes[i] - 1) * operand.strides[i];
    constexpr std::int64_t kDifferent = 251;
    const at::Tensor values = at::arange(elements, at::kFloat).remainder_(kDifferent).div_(kDifferent);
    tensor = values.as_strided(operand.sizes, operand.strides);
  }
  return tensors;
}

std::vector<at::Tensor> Do(const Work& work, const std::vector<at::Tensor>& operands) {
  switch (work.call) {
    case Call::kMm:
      return {at::mm(operands[0], operands[1])};
    case Call::kAddmm:
      return {at::addmm(operands[0], operands[1], operands[2])};
    case Call::kBmm:
      return {at::bmm(operands[0], operands[1])};
    case Call::kBaddbmm:
      return {at::baddbmm(operands[0], operands[1], operands[2])};
    case Call::kConvolution:
      return {at::convolution(operands[0], operands[1],
                              operands[2].defined() ? std::optional(operands[2]) : std::nullopt, work.stride,
                              work.padding, work.dilation, work.transposed, work.output_padding, work.groups)};
    case Call::kConvolutionBackward:
      break;
  }
  at::OptionalIntArrayRef bias_sizes;
  if (!work.bias_sizes.empty()) bias_sizes = at::IntArrayRef(work.bias_sizes);
  auto [input, weight, bias] =
      at::convolution_backward(operands[0], operands[1], operands[2], bias_sizes, work.stride, work.padding,
                               work.dilation, work.transposed, work.output_padding, work.groups, work.output_mask);
  return {std::move(input), std::move(weight), std::move(bias)};
}

}  // namespace loopscope
