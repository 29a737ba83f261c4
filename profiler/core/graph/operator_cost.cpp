#include "profiler/core/graph/operator_cost.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <vector>

#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

using Inputs = std::span<const TensorText>;
using Sizes = std::vector<std::int64_t>;
using Cost = std::optional<OperatorCost>;

double Elements(const TensorText& tensor) {
  return static_cast<double>(tensor.elements());
}

double Bytes(const TensorText& tensor) {
  return static_cast<double>(tensor.bytes());
}

double ElementBytes(const TensorText& tensor) {
  return tensor.elements() > 0 ? Bytes(tensor) / Elements(tensor) : 0;
}

bool HasTensor(Inputs inputs, std::size_t i) {
  return i < inputs.size() && inputs[i].is_tensor && inputs[i].defined;
}

const TensorText* FirstTensor(Inputs inputs) {
  const auto found = std::ranges::find_if(inputs, [](const TensorText& one) { return one.is_tensor && one.defined; });
  return found == inputs.end() ? nullptr : &*found;
}

double Product(std::span<const std::int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 1.0,
                         [](double product, std::int64_t size) { return product * static_cast<double>(size); });
}

// "[1, 1]" or a single number. nullopt for anything else.
std::optional<Sizes> Numbers(const TensorText& input) {
  std::string_view text = input.scalar;
  if (input.is_tensor || text.empty()) return std::nullopt;
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  Sizes numbers;
  while (!text.empty()) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    while (text.starts_with(',') || text.starts_with(' ')) text.remove_prefix(1);
  }
  return numbers;
}

// The shape that tensors of these are broadcast to.
double BroadcastElements(Inputs inputs) {
  Sizes shape;  // from the last dimension on
  for (const TensorText& one : inputs) {
    if (!one.is_tensor || !one.defined) continue;
    const std::size_t dims = one.sizes.size();
    if (dims > shape.size()) shape.resize(dims, 1);
    for (std::size_t i = 0; i < dims; ++i) shape[i] = std::max(shape[i], one.sizes[dims - 1 - i]);
  }
  return Product(shape);
}

double InputBytes(Inputs inputs) {
  double bytes = 0;
  for (const TensorText& one : inputs) {
    bytes += Bytes(one);
    if (one.is_tensor || !one.scalar.starts_with('(')) continue;
    for (const TensorText& element : ParseTensorList(one.scalar)) bytes += Bytes(element);
  }
  return bytes;
}

// --- Products -------------------------------------------------------------------------------------------------------

OperatorCost ProductOf(double flops, double bytes, const TensorText& of) {
  return {flops, bytes, of.dtype, true};
}

// [.., m, k] by [.., k, n], with what is added to it.
Cost MatrixProduct(const TensorText& a, const TensorText& b, double added_bytes) {
  if (a.sizes.size() < 2 || b.sizes.size() < 2) return std::nullopt;
  const auto m = static_cast<double>(a.sizes[a.sizes.size() - 2]), k = static_cast<double>(a.sizes.back()),
             n = static_cast<double>(b.sizes.back());
  const double batch = std::max(Elements(a) / std::max(m * k, 1.0), Elements(b) / std::max(k * n, 1.0));
  const double out = batch * m * n;
  return ProductOf(2 * out * k, Bytes(a) + Bytes(b) + added_bytes + out * ElementBytes(a), a);
}

Cost Mm(Inputs in) {
  return HasTensor(in, 0) && HasTensor(in, 1) ? MatrixProduct(in[0], in[1], 0) : std::nullopt;
}

Cost Addmm(Inputs in) {
  return HasTensor(in, 1) && HasTensor(in, 2) ? MatrixProduct(in[1], in[2], Bytes(in[0])) : std::nullopt;
}

// Vectors too: the missing dimension is 1.
Cost Matmul(Inputs in) {
  if (!HasTensor(in, 0) || !HasTensor(in, 1)) return std::nullopt;
  TensorText a = in[0], b = in[1];
  if (a.sizes.size() == 1) a.sizes.insert(a.sizes.begin(), 1);
  if (b.sizes.size() == 1) b.sizes.push_back(1);
  return MatrixProduct(a, b, 0);
}

Cost Addmv(Inputs in) {
  return in.size() > 2 ? Matmul(in.subspan(1)) : std::nullopt;
}

// Every row by a weight of [out, in].
Cost Linear(Inputs in) {
  if (!HasTensor(in, 0) || !HasTensor(in, 1) || in[0].sizes.empty() || in[1].sizes.size() != 2) return std::nullopt;
  const auto outputs = static_cast<double>(in[1].sizes[0]), k = static_cast<double>(in[1].sizes[1]);
  const double rows = Elements(in[0]) / std::max(k, 1.0);
  const double bias = HasTensor(in, 2) ? Bytes(in[2]) : 0;
  return ProductOf(2 * rows * outputs * k, Bytes(in[0]) + Bytes(in[1]) + bias + rows * outputs * ElementBytes(in[0]),
                   in[0]);
}

Cost Outer(Inputs in) {
  if (!HasTensor(in, 0) || !HasTensor(in, 1)) return std::nullopt;
  const double out = Elements(in[0]) * Elements(in[1]);
  return ProductOf(out, Bytes(in[0]) + Bytes(in[1]) + out * ElementBytes(in[0]), in[0]);
}

// query [.., L, E], key [.., S, E], value [.., S, Ev]: two products.
Cost Attention(Inputs in) {
  if (!HasTensor(in, 0) || !HasTensor(in, 1) || !HasTensor(in, 2)) return std::nullopt;
  const TensorText &query = in[0], &key = in[1], &value = in[2];
  if (query.sizes.size() < 2 || key.sizes.size() < 2 || value.sizes.size() < 2) return std::nullopt;
  const double rows = Elements(query) / std::max<double>(static_cast<double>(query.sizes.back()), 1);
  const auto keys = static_cast<double>(key.sizes[key.sizes.size() - 2]),
             width = static_cast<double>(query.sizes.back() + value.sizes.back());
  const double out = rows * static_cast<double>(value.sizes.back());
  return ProductOf(2 * rows * keys * width, Bytes(query) + Bytes(key) + Bytes(value) + out * ElementBytes(query),
                   query);
}

// Of the gradient of its result first: five products of that size, of which the backward pass of two recomputes one.
Cost AttentionBackward(Inputs in) {
  if (in.size() < 4) return std::nullopt;
  Cost forward = Attention(in.subspan(1));
  if (!forward) return forward;
  forward->flops *= 2.5;
  forward->bytes = 2 * InputBytes(in.first(4));
  return forward;
}

// --- Convolutions ---------------------------------------------------------------------------------------------------

struct Convolution {
  const TensorText *input = nullptr, *weight = nullptr;
  Sizes stride, padding, dilation, output_padding;
  bool transposed = false;
  double groups = 1;
};

std::int64_t At(const Sizes& list, std::size_t dimension, std::int64_t otherwise) {
  return list.empty() ? otherwise : list[std::min(dimension, list.size() - 1)];
}

// The positions of its result in one image.
double OutputPositions(const Convolution& of) {
  double positions = 1;
  for (std::size_t i = 2; i < std::min(of.input->sizes.size(), of.weight->sizes.size()); ++i) {
    const std::int64_t stride = std::max<std::int64_t>(At(of.stride, i - 2, 1), 1);
    const std::int64_t reach = At(of.dilation, i - 2, 1) * (of.weight->sizes[i] - 1);
    const std::int64_t padding = At(of.padding, i - 2, 0), size = of.input->sizes[i];
    const std::int64_t result = of.transposed
                                    ? (size - 1) * stride - 2 * padding + reach + At(of.output_padding, i - 2, 0) + 1
                                    : (size + 2 * padding - reach - 1) / stride + 1;
    positions *= static_cast<double>(std::max<std::int64_t>(result, 1));
  }
  return positions;
}

Cost CostOfConvolution(const Convolution& of) {
  if (of.input->sizes.size() < 3 || of.weight->sizes.size() != of.input->sizes.size()) return std::nullopt;
  const auto batch = static_cast<double>(of.input->sizes[0]);
  const double positions = OutputPositions(of);
  // Each position of the result (of a transposed one, of the input) meets a whole kernel of its group.
  const double met = of.transposed ? Product(std::span(of.input->sizes).subspan(2)) : positions;
  const double channels =
      of.transposed ? static_cast<double>(of.weight->sizes[1]) * of.groups : static_cast<double>(of.weight->sizes[0]);
  const double out = batch * channels * positions;
  return ProductOf(2 * batch * met * Elements(*of.weight),
                   Bytes(*of.input) + Bytes(*of.weight) + out * ElementBytes(*of.input), *of.input);
}

// What follows the tensors in the schema: stride, padding, dilation, transposed, output_padding, groups.
bool ReadConvolution(Inputs in, Convolution& into) {
  if (in.size() < 6) return false;
  const auto stride = Numbers(in[0]), padding = Numbers(in[1]), dilation = Numbers(in[2]), output = Numbers(in[4]),
             groups = Numbers(in[5]);
  if (!stride || !padding || !dilation || !output || !groups || groups->size() != 1) return false;
  into.stride = *stride;
  into.padding = *padding;
  into.dilation = *dilation;
  into.transposed = in[3].scalar == "true" || in[3].scalar == "True";
  into.output_padding = *output;
  into.groups = static_cast<double>(groups->front());
  return true;
}

Cost ConvolutionForward(Inputs in) {
  Convolution of;
  if (!HasTensor(in, 0) || !HasTensor(in, 1) || in.size() < 9 || !ReadConvolution(in.subspan(3), of))
    return std::nullopt;
  of.input = &in[0];
  of.weight = &in[1];
  return CostOfConvolution(of);
}

// (gradient, input, weight, bias sizes, …, output mask): the gradient of the input and that of the weight take as much
// as the forward pass each.
Cost ConvolutionBackward(Inputs in) {
  Convolution of;
  if (!HasTensor(in, 1) || !HasTensor(in, 2) || in.size() < 11 || !ReadConvolution(in.subspan(4), of))
    return std::nullopt;
  of.input = &in[1];
  of.weight = &in[2];
  Cost cost = CostOfConvolution(of);
  if (!cost) return cost;
  const Sizes mask = Numbers(in[10]).value_or(Sizes{});
  const bool of_input = At(mask, 0, 1) != 0, of_weight = mask.size() < 2 || mask[1] != 0;
  const double forward = cost->flops;
  cost->flops = forward * (of_input + of_weight);
  cost->bytes =
      Bytes(in[0]) + (of_input ? Bytes(in[2]) + Bytes(in[1]) : 0) + (of_weight ? Bytes(in[1]) + Bytes(in[2]) : 0);
  return cost;
}

// --- What moves data ------------------------------------------------------------------------------------------------

OperatorCost Moving(double flops, double bytes, Inputs in) {
  const TensorText* first = FirstTensor(in);
  return {flops, bytes, first != nullptr ? first->dtype : "", false};
}

// An output as large as the inputs broadcast together, of the first one's type.
Cost ElementWise(Inputs in) {
  const TensorText* first = FirstTensor(in);
  if (first == nullptr) return std::nullopt;
  const double out = BroadcastElements(in);
  return Moving(out, InputBytes(in) + out * ElementBytes(*first), in);
}

// Two outputs of that size: a mask beside the result.
Cost WithMask(Inputs in) {
  Cost cost = ElementWise(in.first(std::min<std::size_t>(in.size(), 1)));
  if (cost) cost->bytes += BroadcastElements(in.first(1));
  return cost;
}

// The output is small beside the input.
Cost Reduction(Inputs in) {
  const TensorText* first = FirstTensor(in);
  if (first == nullptr) return std::nullopt;
  return Moving(Elements(*first), InputBytes(in), in);
}

// One value is written to all.
Cost Fill(Inputs in) {
  const TensorText* first = FirstTensor(in);
  return first != nullptr ? Cost(Moving(0, Bytes(*first), in)) : std::nullopt;
}

// Some operations for each element: statistics, and the result.
Cost Normalization(Inputs in) {
  if (!HasTensor(in, 0)) return std::nullopt;
  return Moving(8 * Elements(in[0]), 2 * Bytes(in[0]), in);
}

// The gradient, the input, and the input's gradient.
Cost NormalizationBackward(Inputs in) {
  if (!HasTensor(in, 0)) return std::nullopt;
  return Moving(12 * Elements(in[0]), 3 * Bytes(in[0]), in);
}

Cost Softmax(Inputs in) {
  if (!HasTensor(in, 0)) return std::nullopt;
  return Moving(5 * Elements(in[0]), 2 * Bytes(in[0]), in);
}

// As many rows as indices, each as wide as a row of the table.
double RowsBytes(const TensorText& table, const TensorText& indices) {
  if (table.sizes.empty() || table.sizes.front() == 0) return 0;
  return Elements(indices) * Bytes(table) / static_cast<double>(table.sizes.front());
}

// (table, indices): the rows that are looked up are read and written.
Cost LookUp(Inputs in) {
  if (!HasTensor(in, 0) || !HasTensor(in, 1)) return std::nullopt;
  return Moving(0, Bytes(in[1]) + 2 * RowsBytes(in[0], in[1]), in);
}

// (table, dimension, indices), as in index_select: rows of that dimension.
Cost Select(Inputs in) {
  if (!HasTensor(in, 0) || !HasTensor(in, 2)) return std::nullopt;
  const auto dimension = Numbers(in[1]);
  if (!dimension || dimension->size() != 1) return std::nullopt;
  const auto dims = static_cast<std::int64_t>(in[0].sizes.size());
  const std::int64_t at = dimension->front() < 0 ? dimension->front() + dims : dimension->front();
  if (at < 0 || at >= dims || in[0].sizes[static_cast<std::size_t>(at)] == 0) return std::nullopt;
  const double rows = Elements(in[2]) * Bytes(in[0]) / static_cast<double>(in[0].sizes[static_cast<std::size_t>(at)]);
  return Moving(0, Bytes(in[2]) + 2 * rows, in);
}

// (tensor, dimension, indices): as many elements as indices.
Cost Gather(Inputs in) {
  if (!HasTensor(in, 0) || !HasTensor(in, 2)) return std::nullopt;
  return Moving(0, Bytes(in[2]) + 2 * Elements(in[2]) * ElementBytes(in[0]), in);
}

// (gradient, indices, number of rows, …): the gradient is added to a table of zeros.
Cost EmbeddingBackward(Inputs in) {
  if (!HasTensor(in, 0) || !HasTensor(in, 1) || in.size() < 3 || in[0].sizes.empty()) return std::nullopt;
  const auto rows = Numbers(in[2]);
  if (!rows || rows->size() != 1) return std::nullopt;
  const double table = static_cast<double>(rows->front() * in[0].sizes.back()) * ElementBytes(in[0]);
  return Moving(Elements(in[0]), Bytes(in[0]) + Bytes(in[1]) + table, in);
}

// A list of tensors is read, and written as one.
Cost Joining(Inputs in) {
  if (in.empty()) return std::nullopt;
  const std::vector<TensorText> parts = ParseTensorList(in[0].scalar);
  if (parts.empty()) return std::nullopt;
  double bytes = 0;
  for (const TensorText& part : parts) bytes += 2 * Bytes(part);
  return OperatorCost{0, bytes, parts.front().dtype, false};
}

// --- The table ------------------------------------------------------------------------------------------------------

struct Formula {
  std::string_view op;  // without "aten::", and without the underscore of the form in place
  Cost (*cost)(Inputs);
};

// By name, for the search.
constexpr auto kFormulas = std::to_array<Formula>({
    {"_addmm_activation", Addmm},
    {"_log_softmax", Softmax},
    {"_log_softmax_backward_data", NormalizationBackward},
    {"_scaled_dot_product_flash_attention_for_cpu", Attention},
    {"_scaled_dot_product_flash_attention_for_cpu_backward", AttentionBackward},
    {"_softmax", Softmax},
    {"_softmax_backward_data", NormalizationBackward},
    {"_to_copy", ElementWise},
    {"abs", ElementWise},
    {"adaptive_avg_pool2d", Reduction},
    {"add", ElementWise},
    {"addbmm", Addmm},
    {"addcdiv", ElementWise},
    {"addcmul", ElementWise},
    {"addmm", Addmm},
    {"addmv", Addmv},
    {"all", Reduction},
    {"amax", Reduction},
    {"amin", Reduction},
    {"any", Reduction},
    {"argmax", Reduction},
    {"argmin", Reduction},
    {"avg_pool2d", Reduction},
    {"baddbmm", Addmm},
    {"bernoulli", ElementWise},
    {"bitwise_and", ElementWise},
    {"bitwise_not", ElementWise},
    {"bitwise_or", ElementWise},
    {"bmm", Mm},
    {"cat", Joining},
    {"clamp", ElementWise},
    {"clamp_max", ElementWise},
    {"clamp_min", ElementWise},
    {"clone", ElementWise},
    {"convolution", ConvolutionForward},
    {"convolution_backward", ConvolutionBackward},
    {"copy", ElementWise},
    {"cos", ElementWise},
    {"cumsum", ElementWise},
    {"div", ElementWise},
    {"dot", Matmul},
    {"elu", ElementWise},
    {"elu_backward", ElementWise},
    {"embedding", LookUp},
    {"embedding_dense_backward", EmbeddingBackward},
    {"eq", ElementWise},
    {"erf", ElementWise},
    {"exp", ElementWise},
    {"fill", Fill},
    {"floor", ElementWise},
    {"gather", Gather},
    {"ge", ElementWise},
    {"gelu", ElementWise},
    {"gelu_backward", ElementWise},
    {"ger", Outer},
    {"gt", ElementWise},
    {"hardtanh", ElementWise},
    {"hardtanh_backward", ElementWise},
    {"index_select", Select},
    {"le", ElementWise},
    {"leaky_relu", ElementWise},
    {"leaky_relu_backward", ElementWise},
    {"lerp", ElementWise},
    {"linalg_vector_norm", Reduction},
    {"linear", Linear},
    {"log", ElementWise},
    {"log1p", ElementWise},
    {"log_sigmoid_forward", ElementWise},
    {"logical_and", ElementWise},
    {"logical_not", ElementWise},
    {"logical_or", ElementWise},
    {"lt", ElementWise},
    {"masked_fill", ElementWise},
    {"matmul", Matmul},
    {"max", Reduction},
    {"max_pool2d_with_indices", Reduction},
    {"maximum", ElementWise},
    {"mean", Reduction},
    {"min", Reduction},
    {"minimum", ElementWise},
    {"mm", Mm},
    {"mse_loss", Reduction},
    {"mse_loss_backward", ElementWise},
    {"mul", ElementWise},
    {"mv", Matmul},
    {"native_batch_norm", Normalization},
    {"native_batch_norm_backward", NormalizationBackward},
    {"native_dropout", WithMask},
    {"native_group_norm", Normalization},
    {"native_group_norm_backward", NormalizationBackward},
    {"native_layer_norm", Normalization},
    {"native_layer_norm_backward", NormalizationBackward},
    {"ne", ElementWise},
    {"neg", ElementWise},
    {"nll_loss_forward", Reduction},
    {"norm", Reduction},
    {"normal", Fill},
    {"pow", ElementWise},
    {"prod", Reduction},
    {"reciprocal", ElementWise},
    {"relu", ElementWise},
    {"round", ElementWise},
    {"rsqrt", ElementWise},
    {"rsub", ElementWise},
    {"sigmoid", ElementWise},
    {"sigmoid_backward", ElementWise},
    {"sign", ElementWise},
    {"silu", ElementWise},
    {"silu_backward", ElementWise},
    {"sin", ElementWise},
    {"softplus", ElementWise},
    {"softplus_backward", ElementWise},
    {"sqrt", ElementWise},
    {"square", ElementWise},
    {"std", Reduction},
    {"sub", ElementWise},
    {"sum", Reduction},
    {"tanh", ElementWise},
    {"tanh_backward", ElementWise},
    {"threshold_backward", ElementWise},
    {"uniform", Fill},
    {"var", Reduction},
    {"var_mean", Reduction},
    {"where", ElementWise},
    {"zero", Fill},
});
static_assert(std::ranges::is_sorted(kFormulas, {}, &Formula::op));

}  // namespace

std::optional<OperatorCost> CostOf(std::string_view op, std::span<const TensorText> inputs) {
  if (ops::IsView(op) || ops::IsUninitialized(op)) return OperatorCost{};
  constexpr std::string_view kNamespace = "aten::";
  if (!op.starts_with(kNamespace)) return std::nullopt;
  op.remove_prefix(kNamespace.size());
  if (op.ends_with('_') && !op.ends_with("__")) op.remove_suffix(1);
  const auto found = std::ranges::lower_bound(kFormulas, op, {}, &Formula::op);
  if (found == kFormulas.end() || found->op != op) return std::nullopt;
  return found->cost(inputs);
}

}  // namespace loopscope
