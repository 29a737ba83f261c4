#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <array>
#include <functional>

#include "probes/torch/inputs.h"

namespace loopscope {
namespace {

constexpr std::int64_t kMostRead = 1 << 20;  // elements: well under a millisecond
constexpr double kMasked = -1e4;             // added to attention scores, it suppresses them in any float type

// A tensor in host memory whose values can be read in place.
bool IsReadable(const at::Tensor& tensor) {
  using c10::DispatchKey;
  return tensor.defined() && tensor.is_cpu() && tensor.layout() == c10::kStrided && tensor.numel() > 0 &&
         !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides() && tensor.unsafeGetTensorImpl()->has_storage() &&
         !tensor.key_set().has_any(
             c10::DispatchKeySet({DispatchKey::Python, DispatchKey::FuncTorchBatched, DispatchKey::Functionalize,
                                  DispatchKey::Negative, DispatchKey::ZeroTensor})) &&
         tensor.storage().data() != nullptr;
}

// Maps elements of a tensor to tokens: token `key` of sample `sample` is padding if no query sees it. Strides are in
// elements.
struct Grid {
  std::int64_t samples, queries, keys;
  std::int64_t sample_stride, query_stride, key_stride;
};

// Padding lies at one end of a sample; what is masked elsewhere (a word to predict) is not padding.
bool IsAtOneEnd(const std::vector<bool>& hidden) {
  const auto changes = std::ranges::adjacent_find(hidden, std::ranges::not_equal_to());
  if (changes == hidden.end()) return !hidden.front();
  return std::ranges::adjacent_find(changes + 1, hidden.end(), std::ranges::not_equal_to()) == hidden.end();
}

template <class Hides>
Padding Count(const Grid& grid, const Hides& hides) {
  const std::int64_t per_sample = grid.queries * grid.keys;
  const std::int64_t step = std::max<std::int64_t>(1, grid.samples * per_sample / kMostRead);
  Padding padding;
  bool is_triangle = grid.samples == grid.keys;
  std::vector<bool> hidden(static_cast<std::size_t>(grid.keys));
  for (std::int64_t sample = 0; sample < grid.samples; sample += step) {
    for (std::int64_t key = 0; key < grid.keys; ++key) {
      const std::int64_t at = sample * grid.sample_stride + key * grid.key_stride;
      bool all = true;
      for (std::int64_t query = 0; all && query < grid.queries; ++query) all = hides(at + query * grid.query_stride);
      hidden[static_cast<std::size_t>(key)] = all;
    }
    if (!IsAtOneEnd(hidden)) return {};
    const auto padded = std::ranges::count(hidden, true);
    is_triangle = is_triangle && padded == grid.keys - 1 - sample;  // a causal mask, whose rows are not samples
    padding.padded += static_cast<std::uint64_t>(padded);
    padding.tokens += static_cast<std::uint64_t>(grid.keys);
  }
  return is_triangle && grid.keys > 1 ? Padding{} : padding;
}

template <class Value>
auto Reading(const at::Tensor& tensor) {
  return static_cast<const Value*>(tensor.const_data_ptr());
}

// A mask selects the scores that count: by true or false, or by a number that is added.
Padding CountMask(const at::Tensor& mask, const Grid& grid, bool hiding) {
  switch (mask.scalar_type()) {
    case c10::ScalarType::Bool:
      return Count(grid, [values = Reading<bool>(mask), hiding](std::int64_t at) { return values[at] == hiding; });
    case c10::ScalarType::Float:
      return Count(grid, [values = Reading<float>(mask)](std::int64_t at) { return values[at] <= kMasked; });
    case c10::ScalarType::BFloat16:
      return Count(grid, [values = Reading<c10::BFloat16>(mask)](std::int64_t at) { return values[at] <= kMasked; });
    case c10::ScalarType::Half:
      return Count(grid, [values = Reading<c10::Half>(mask)](std::int64_t at) { return values[at] <= kMasked; });
    default:
      return {};
  }
}

std::int64_t StrideOf(const at::Tensor& tensor, std::int64_t dimension) {
  return tensor.size(dimension) > 1 ? tensor.stride(dimension) : 0;
}

// (batch, …, queries, keys), as attention's scores have it.
Padding OfScores(const at::Tensor& mask, bool hiding) {
  const std::int64_t query_stride = StrideOf(mask, -2);
  const Grid grid{mask.size(0),  query_stride == 0 ? 1 : mask.size(-2),
                  mask.size(-1), StrideOf(mask, 0),
                  query_stride,  StrideOf(mask, -1)};
  return grid.sample_stride != 0 && grid.key_stride != 0 ? CountMask(mask, grid, hiding) : Padding{};
}

// (batch, tokens) and (batch, tokens, 1, …), as features have it.
Padding OfFeatures(const at::Tensor& mask) {
  const Grid grid{mask.size(0), 1, mask.size(1), StrideOf(mask, 0), 0, StrideOf(mask, 1)};
  for (std::int64_t dimension = 2; dimension < mask.dim(); ++dimension) {
    if (StrideOf(mask, dimension) != 0) return {};
  }
  return grid.sample_stride != 0 && grid.key_stride != 0 ? CountMask(mask, grid, /*hiding=*/true) : Padding{};
}

const at::Tensor* TensorAt(c10::ArrayRef<const c10::IValue> inputs, std::size_t at) {
  return at < inputs.size() && inputs[at].isTensor() ? &inputs[at].toTensor() : nullptr;
}

// embedding(weight, indices, padding_idx, …)
Padding OfEmbedding(c10::ArrayRef<const c10::IValue> inputs) {
  const at::Tensor* tokens = TensorAt(inputs, 1);
  if (tokens == nullptr || inputs.size() < 3 || !inputs[2].isInt() || inputs[2].toInt() < 0) return {};
  if (!IsReadable(*tokens) || tokens->dim() != 2) return {};
  const Grid grid{tokens->size(0), 1, tokens->size(1), StrideOf(*tokens, 0), 0, StrideOf(*tokens, 1)};
  const std::int64_t padding = inputs[2].toInt();
  const auto count = [&](auto* values) {
    return Count(grid, [values, padding](std::int64_t at) { return values[at] == padding; });
  };
  if (tokens->scalar_type() == c10::ScalarType::Long) return count(Reading<std::int64_t>(*tokens));
  if (tokens->scalar_type() == c10::ScalarType::Int) return count(Reading<std::int32_t>(*tokens));
  return {};
}

// masked_fill(self, mask, value): a mask of fewer dimensions than self is the same for all samples.
Padding OfFill(c10::ArrayRef<const c10::IValue> inputs) {
  const at::Tensor *filled = TensorAt(inputs, 0), *mask = TensorAt(inputs, 1);
  if (filled == nullptr || mask == nullptr || !IsReadable(*mask) || mask->scalar_type() != c10::ScalarType::Bool)
    return {};
  if (mask->dim() < 2 || mask->dim() != filled->dim()) return {};
  return mask->dim() > 2 && StrideOf(*mask, -1) != 0 ? OfScores(*mask, /*hiding=*/true) : OfFeatures(*mask);
}

// scaled_dot_product_attention(query, key, value, attn_mask, …)
Padding OfAttention(c10::ArrayRef<const c10::IValue> inputs) {
  const at::Tensor* mask = TensorAt(inputs, 3);
  if (mask == nullptr || !IsReadable(*mask) || mask->dim() < 3) return {};
  return OfScores(*mask, /*hiding=*/false);
}

}  // namespace

Padding PaddingOf(std::string_view name, const at::RecordFunction& function) {
  const c10::ArrayRef<const c10::IValue> inputs = function.inputs();
  if (name == "aten::embedding") return OfEmbedding(inputs);
  if (name == "aten::masked_fill" || name == "aten::masked_fill_") return OfFill(inputs);
  return name == "aten::scaled_dot_product_attention" ? OfAttention(inputs) : Padding{};
}

}  // namespace loopscope
