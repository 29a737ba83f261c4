// Rows that are taken from a table.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/forms/form.h"
#include "profiler/core/trace/inputs.h"

namespace loopscope {
namespace {

// The one tensor of a list of indices; nullopt where there are others.
std::optional<TensorText> OnlyIndex(const Call& call) {
  if (call.inputs.size() < 2 || call.inputs[1].is_tensor) return std::nullopt;
  const std::vector<TensorText> list = ParseTensorList(call.inputs[1].scalar);
  if (list.size() != 1 || !list[0].defined) return std::nullopt;
  return list[0];
}

std::optional<Match> Rows(const StepCalls& calls, std::uint32_t at) {
  const auto index = OnlyIndex(calls[at]);
  const bool table = calls[at].sizes(0).size() >= 2 && calls[at].inputs[0].requires_grad;
  if (!index || index->dtype != "i64" || index->sizes.empty() || !table) return std::nullopt;
  return Match{calls[at].text, {at}};
}

// An average over the elements that a mask selects.
std::optional<Match> MaskedElements(const StepCalls& calls, std::uint32_t at) {
  const Call& call = calls[at];
  if (call.name == "aten::masked_select") {
    if (!SameSizes(call.sizes(0), call.sizes(1))) return std::nullopt;
  } else {
    const auto index = OnlyIndex(call);
    if (!index || index->dtype != "b1" || !SameSizes(index->sizes, call.sizes(0))) return std::nullopt;
  }
  Calls down = Down(calls, at, "abs pow square mul neg log", "mean sum");
  if (down.empty()) return std::nullopt;
  down.push_back(at);
  return Match{call.text, down};
}

bool SameTable(const Call& a, const Call& b) {
  return a.name == b.name && SameSizes(a.sizes(0), b.sizes(0));
}

// All look-ups of a table of this size in a step, at the first of them.
Calls OfTable(const StepCalls& calls, std::uint32_t at) {
  for (std::uint32_t i = at; i-- > 0 && calls[i].step == calls[at].step;) {
    if (SameTable(calls[i], calls[at])) return {};
  }
  Calls all;
  for (std::uint32_t i = at; i < calls.all().size() && calls[i].step == calls[at].step; ++i) {
    if (SameTable(calls[i], calls[at])) all.push_back(i);
  }
  return all;
}

std::string Texts(const StepCalls& calls, const Calls& all) {
  constexpr std::size_t kMost = 8;
  std::string texts;
  for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i) texts += "|" + calls[all[i]].text;
  return texts;
}

std::optional<Match> Renormalized(const StepCalls& calls, std::uint32_t at) {
  const Calls all = OfTable(calls, at);
  if (all.empty()) return std::nullopt;
  return Match{fmt::format("{}{}", all.size(), Texts(calls, all)), all};
}

// Sparse gradients, as far as they are summed and applied: with the optimizer's and the engine's work.
std::optional<Match> SparseGradients(const StepCalls& calls, std::uint32_t at) {
  if (calls[at].inputs.size() < 5 || calls[at].inputs[4].scalar != "true") return std::nullopt;
  Calls all = OfTable(calls, at);
  if (all.empty()) return std::nullopt;
  const std::string work = fmt::format("{}{}", all.size(), Texts(calls, all));
  bool coalesced = false;
  for (std::uint32_t i = at; i < calls.all().size() && calls[i].step == calls[at].step; ++i) {
    if (!calls[i].in_optimizer && !calls[i].in_backward) continue;
    all.push_back(i);
    coalesced |= IsOneOf(calls[i].name, "coalesce _coalesce sparse_mask");
  }
  if (!coalesced) return std::nullopt;
  return Match{work, all};
}

// An embedding's rows, summed or averaged over the last dimension of the indices.
std::optional<Match> SummedRows(const StepCalls& calls, std::uint32_t at) {
  const auto indices = calls[at].sizes(1);
  if (indices.size() != 2) return std::nullopt;
  const Calls down = Down(calls, at, "", "sum mean");
  if (down.empty()) return std::nullopt;
  const Call& sum = calls[down.back()];
  if (sum.inputs.size() < 2 || (sum.inputs[1].scalar != "[1]" && sum.inputs[1].scalar != "[-2]")) return std::nullopt;
  return Match{fmt::format("{}|{}", calls[at].text, sum.name == "aten::mean" ? "mean" : "sum"), {at, down.back()}};
}

// A product with rows that hold a single one.
std::optional<Match> OneHotProduct(const StepCalls& calls, std::uint32_t at) {
  constexpr std::uint32_t kMostBetween = 8;
  const auto classes = calls[at].number(1);
  if (!classes || *classes < 2) return std::nullopt;
  const double rows = Elements(calls[at].sizes(0));
  for (std::uint32_t i = at + 1; i < std::min<std::size_t>(at + kMostBetween, calls.all().size()); ++i) {
    const Call& call = calls[i];
    if (!IsOneOf(call.name, "matmul mm linear") || call.step != calls[at].step) continue;
    const auto left = call.sizes(0);
    if (left.empty() || static_cast<double>(left.back()) != *classes || Elements(left) != rows * *classes) continue;
    Match match{fmt::format("{}|{}|{}", calls[at].text, call.name, call.text), {at, i}};
    for (std::uint32_t between = at + 1; between < i; ++between) {
      if (IsOneOf(calls[between].name, "to _to_copy type float") &&
          Elements(calls[between].sizes(0)) == rows * *classes) {
        match.calls.push_back(between);
      }
    }
    return match;
  }
  return std::nullopt;
}

// Elements along inner dimensions, x[:, i] or x[:, i, j]: "f32[8,20]!;(- i64[6])".
std::optional<Match> IndexedElements(const StepCalls& calls, std::uint32_t at) {
  const Call& call = calls[at];
  if (call.inputs.size() < 2 || call.inputs[1].is_tensor || call.sizes(0).size() < 2) return std::nullopt;
  if (!call.inputs[0].requires_grad) return std::nullopt;
  const std::vector<TensorText> list = ParseTensorList(call.inputs[1].scalar);
  const auto first = std::ranges::find_if(list, &TensorText::defined);
  if (first == list.end() || list.end() - first > 2 || (first == list.begin() && list.size() == 1)) return std::nullopt;
  const bool whole = std::all_of(first, list.end(), [&](const TensorText& one) {
    return one.defined && one.dtype == "i64" && !one.sizes.empty() && SameSizes(one.sizes, first->sizes);
  });
  if (!whole) return std::nullopt;
  return Match{call.text, {at}};
}

// Whether the index was one number for each row, expanded to the rows' length.
bool IndexesRows(const StepCalls& calls, std::uint32_t at, std::span<const std::int64_t> index) {
  constexpr std::uint32_t kMostBetween = 8;
  const auto expanded = Before(calls, at, "expand repeat expand_as", kMostBetween);
  if (!expanded || index.size() < 2) return false;
  const auto one = calls[*expanded].sizes(0);
  return one.size() == index.size() && one.back() == 1 && index.back() > 1 &&
         SameSizes(one.first(one.size() - 1), index.first(index.size() - 1));
}

bool IsDim(const Call& call, std::size_t i, std::size_t dim, std::size_t dims) {
  const auto said = call.number(i);
  return said && DimOf(static_cast<std::int64_t>(*said), dims) == dim;
}

// input;dim;index;sparse_grad: rows of a matrix, or of each of a batch of them.
std::optional<Match> GatheredRows(const StepCalls& calls, std::uint32_t at) {
  const auto input = calls[at].sizes(0), index = calls[at].sizes(2);
  if (input.size() < 2 || input.size() > 3 || index.size() != input.size() || input.back() != index.back()) {
    return std::nullopt;
  }
  if (!IsDim(calls[at], 1, input.size() - 2, input.size()) || !IndexesRows(calls, at, index)) return std::nullopt;
  if (input.size() == 3 && input[0] != index[0]) return std::nullopt;
  return Match{calls[at].text, {at}};
}

// input;dim;index;source: rows added to those of a matrix.
std::optional<Match> ScatteredRows(const StepCalls& calls, std::uint32_t at) {
  const auto input = calls[at].sizes(0), index = calls[at].sizes(2), source = calls[at].sizes(3);
  if (input.size() != 2 || index.size() != 2 || !SameSizes(index, source) || input.back() != index.back()) {
    return std::nullopt;
  }
  if (!IsDim(calls[at], 1, 0, 2) || !IndexesRows(calls, at, index)) return std::nullopt;
  return Match{calls[at].text, {at}};
}

// A product with one-hot labels, and its sum over the classes: "i64[10];64|f32[10,64]!;i64[10,64]".
std::optional<Match> PickedByOneHot(const StepCalls& calls, std::uint32_t at) {
  constexpr std::uint32_t kMostBetween = 8;
  const auto classes = calls[at].number(1);
  if (!classes || *classes < 2) return std::nullopt;
  const double all = Elements(calls[at].sizes(0)) * *classes;
  for (std::uint32_t i = at + 1; i < std::min<std::size_t>(at + kMostBetween, calls.all().size()); ++i) {
    const Call& call = calls[i];
    if (call.name != "aten::mul" || call.step != calls[at].step || call.from.empty()) continue;
    if (!SameSizes(call.sizes(0), call.sizes(1)) || call.sizes(0).size() != calls[at].sizes(0).size() + 1) continue;
    if (Elements(call.sizes(0)) != all || static_cast<double>(call.sizes(0).back()) != *classes) continue;
    const Calls sum = Down(calls, i, "", "sum");
    if (sum.empty()) return std::nullopt;
    const std::vector<std::int64_t> dims = NumbersOf(calls[sum.back()], 1);
    const std::size_t rank = call.sizes(0).size();
    if (dims.size() != 1 || DimOf(dims[0], rank) != rank - 1) return std::nullopt;
    return Match{fmt::format("{}|{}", calls[at].text, call.text), {at, i, sum.back()}};
  }
  return std::nullopt;
}

constexpr std::array<Form, 10> kLookupsForms{{
    {.id = "rows-by-index",
     .slow = "rows by indexing, whose backward pass adds them one by one",
     .better = "index_select",
     .fix = "Take rows with table.index_select(0, rows) or torch.nn.functional.embedding(rows, table).",
     .anchor = "index",
     .match = Rows},
    {.id = "elements-by-index",
     .slow = "elements of inner dimensions are taken by indexing",
     .better = "index_select",
     .fix =
         "Call x.index_select(1, i) for x[:, i], and x.flatten(1).index_select(1, i * x.size(2) + j) for x[:, i, j].",
     .anchor = "index",
     .match = IndexedElements},
    {.id = "rows-by-gather",
     .slow = "rows are taken by gather with an index that is expanded",
     .better = "index_select",
     .fix = "Call x.index_select(0, rows); of a batch, on x.flatten(0, 1) with each sample's offset added to its rows.",
     .anchor = "gather",
     .match = GatheredRows},
    {.id = "rows-by-scatter",
     .slow = "rows are added by scatter_add with an index that is expanded",
     .better = "index_add",
     .fix = "Call x.index_add_(0, rows, source).",
     .anchor = "scatter_add scatter_add_",
     .match = ScatteredRows},
    {.id = "picked-by-one-hot",
     .slow = "one number of each row is picked by a product with one-hot labels and a sum",
     .better = "gather",
     .fix = "Call x.gather(-1, labels.unsqueeze(-1)).squeeze(-1).",
     .anchor = "one_hot",
     .match = PickedByOneHot},
    {.id = "elements-by-mask",
     .slow = "elements are picked by a mask and then summed",
     .better = "a product with the mask",
     .fix = "Multiply by the mask and divide by its sum: (x * mask).sum() / mask.sum().",
     .anchor = "index masked_select",
     .match = MaskedElements},
    {.id = "renormalized-lookup",
     .slow = "an embedding with max_norm renormalizes rows in each look-up",
     .better = "renorm_ of the table once per step",
     .fix = "Make the embedding without max_norm and call weight.data.renorm_(2, 0, max_norm) after the optimizer's "
            "step.",
     .anchor = "embedding_renorm_",
     .match = Renormalized},
    {.id = "sparse-gradients",
     .slow = "an embedding's sparse gradients are sorted and summed",
     .better = "dense gradients with a fused Adam",
     .fix = "Make the embedding with sparse=False and update it with Adam(fused=True): a step uses too many of its "
            "rows for sparse gradients to help.",
     .anchor = "embedding",
     .match = SparseGradients},
    {.id = "lookup-then-sum",
     .slow = "an embedding's rows are all written out and then summed",
     .better = "embedding_bag",
     .fix = "Use torch.nn.EmbeddingBag or torch.nn.functional.embedding_bag with mode \"sum\" or \"mean\".",
     .anchor = "embedding",
     .match = SummedRows},
    {.id = "one-hot-product",
     .slow = "a matrix is multiplied by one-hot rows",
     .better = "an embedding's look-up",
     .fix = "Look the rows up: torch.nn.functional.embedding(labels, matrix).",
     .anchor = "one_hot",
     .match = OneHotProduct},
}};

}  // namespace

std::span<const Form> LookupForms() {
  return kLookupsForms;
}

}  // namespace loopscope
