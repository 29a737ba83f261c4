#include "analyzers/gradients/lookups.h"

#include <algorithm>
#include <array>

namespace loopscope {
namespace {

enum class Kind { kEmbedding, kBag, kGather, kIndexSelect, kIndex };

struct Operator {
  std::string_view name;
  Kind kind;
};
constexpr std::array kOperators = {
    Operator{"aten::embedding", Kind::kEmbedding},      Operator{"aten::embedding_bag", Kind::kBag},
    Operator{"aten::_embedding_bag", Kind::kBag},       Operator{"aten::gather", Kind::kGather},
    Operator{"aten::index_select", Kind::kIndexSelect}, Operator{"aten::index", Kind::kIndex}};

const Operator* Find(std::string_view name) {
  const auto found = std::ranges::find(kOperators, name, &Operator::name);
  return found == kOperators.end() ? nullptr : &*found;
}

bool IsTrue(const std::vector<TensorText>& inputs, std::size_t at) {
  return inputs.size() > at && inputs[at].scalar == "true";
}

// The rows of an index with one entry per number of a row, as gather takes.
std::int64_t RowsOfWide(const TensorText& index, std::int64_t width) {
  return width > 0 ? index.elements() / width : 0;
}

// The rows that `self[indices]` takes: integer indices for the first dimension, not a mask.
std::int64_t RowsOfIndices(const TensorText& input) {
  const std::vector<TensorText> indices = ParseTensorList(input.scalar);
  if (indices.empty() || !indices.front().defined || !indices.front().dtype.starts_with('i')) return 0;
  return indices.front().elements();
}

}  // namespace

bool IsLookup(std::string_view name) {
  return Find(name) != nullptr;
}

std::optional<Lookup> LookupOf(std::string_view name, const std::vector<TensorText>& inputs) {
  const Operator* const one = Find(name);
  if (one == nullptr || inputs.size() < 2 || inputs[0].sizes.size() != 2) return std::nullopt;
  Lookup lookup{.table = inputs[0].sizes, .trained = inputs[0].requires_grad};
  const bool by_rows = inputs.size() > 2 && inputs[1].scalar == "0";
  switch (one->kind) {
    case Kind::kEmbedding:  // (weight, indices, padding_idx, scale_grad_by_freq, sparse)
      lookup.only_tables = true;
      lookup.rows = inputs[1].elements();
      lookup.sparse = IsTrue(inputs, 4);
      break;
    case Kind::kBag:  // (weight, indices, offsets, scale_grad_by_freq, mode, sparse, …)
      lookup.only_tables = true;
      lookup.rows = inputs[1].elements();
      lookup.sparse = IsTrue(inputs, 5);
      break;
    case Kind::kGather:  // (self, dim, index, sparse_grad)
      lookup.rows = by_rows ? RowsOfWide(inputs[2], lookup.table[1]) : 0;
      lookup.sparse = IsTrue(inputs, 3);
      break;
    case Kind::kIndexSelect:  // (self, dim, index)
      lookup.rows = by_rows ? inputs[2].elements() : 0;
      break;
    case Kind::kIndex:  // (self, indices)
      lookup.rows = RowsOfIndices(inputs[1]);
      break;
  }
  return lookup.rows > 0 ? std::optional(lookup) : std::nullopt;
}

bool MakesTableGradient(std::string_view name) {
  return name == "aten::embedding_dense_backward" || name == "aten::_embedding_bag_dense_backward";
}

bool AddsRows(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"aten::index_add_", "aten::scatter_add_", "aten::index_put_",
                                                      "aten::_index_put_impl_", "aten::index_add"};
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace loopscope
