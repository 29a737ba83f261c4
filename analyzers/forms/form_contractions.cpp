// Sums of products that are taken number by number, in a costly order, or with a matrix that is written out for
// nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/forms/form.h"

namespace loopscope {
namespace {

constexpr std::uint32_t kMostCallsBetween = 8;

// A product of two tensors that are broadcast, each along a dimension of the other's, and its sum: the texts of both.
std::optional<Match> BroadcastProduct(const StepCalls& calls, std::uint32_t at) {
  const auto a = calls[at].sizes(0), b = calls[at].sizes(1);
  if (a.size() < 2 || a.size() != b.size()) return std::nullopt;
  bool first = false, second = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) return std::nullopt;
    first |= a[i] == 1 && b[i] > 1;
    second |= b[i] == 1 && a[i] > 1;
  }
  const Calls down = Down(calls, at, "", "sum");
  if (!first || !second || down.empty()) return std::nullopt;
  // Only what both have is summed: the rest may as well be summed before.
  const std::vector<std::int64_t> dims = NumbersOf(calls[down.back()], 1);
  const auto shared = [&](std::int64_t dim) {
    const auto i = DimOf(dim, a.size());
    return i && a[*i] == b[*i] && a[*i] > 1;
  };
  if (dims.empty() || !std::ranges::all_of(dims, shared)) return std::nullopt;
  return Match{fmt::format("{}|{}", calls[at].text, calls[down.back()].inputs[1].scalar), {at, down.back()}};
}

struct Matrices {
  double rows = 0, inner = 0, columns = 0;
};

std::optional<Matrices> MatricesOf(const Call& call) {
  const auto a = call.sizes(0), b = call.sizes(1);
  if (a.size() < 2 || b.size() != a.size() || a.back() != b[b.size() - 2]) return std::nullopt;
  if (!SameSizes(a.first(a.size() - 2), b.first(b.size() - 2))) return std::nullopt;
  return Matrices{static_cast<double>(a[a.size() - 2]), static_cast<double>(a.back()), static_cast<double>(b.back())};
}

// (a @ b) @ c where a @ (b @ c) has half the work or less, or the other way round: "left|a;b|(ab);c".
std::optional<Match> Order(const StepCalls& calls, std::uint32_t at) {
  constexpr double kMuchLess = 0.5;
  const auto first = MatricesOf(calls[at]);
  if (!first || calls[at].to.size() != 1) return std::nullopt;
  const std::uint32_t reader = calls[at].to.front();
  if (!IsOneOf(calls[reader].name, "matmul mm bmm")) return std::nullopt;
  const auto second = MatricesOf(calls[reader]);
  if (!second || calls[reader].sizes(0).size() != calls[at].sizes(0).size()) return std::nullopt;
  const bool left = first->rows == second->rows && first->columns == second->inner;
  const bool right = first->rows == second->inner && first->columns == second->columns;
  if (left == right) return std::nullopt;  // square ones: which it is cannot be seen
  const double now = first->rows * first->inner * first->columns + second->rows * second->inner * second->columns;
  // a[m,k] b[k,n] c[n,p]: n p k and m k p; or c[p,m] a[m,k] b[k,n]: p m k and p k n.
  const double other =
      left ? first->inner * first->columns * second->columns + first->rows * first->inner * second->columns
           : second->rows * first->rows * first->inner + second->rows * first->inner * first->columns;
  if (other > kMuchLess * now) return std::nullopt;
  return Match{fmt::format("{}|{}|{}", left ? "left" : "right", calls[at].text, calls[reader].text), {at, reader}};
}

// A vector that is made a diagonal matrix to be multiplied: "left|f32[64]!|f32[64,64]!;f32[64,8]!".
std::optional<Match> Diagonal(const StepCalls& calls, std::uint32_t at) {
  const auto vector = calls[at].sizes(0);
  if (vector.size() != 1 || vector[0] < 2) return std::nullopt;
  const std::array<std::int64_t, 2> square{vector[0], vector[0]};
  for (std::uint32_t i = at + 1; i < std::min<std::size_t>(at + kMostCallsBetween, calls.all().size()); ++i) {
    if (calls[i].step != calls[at].step || !IsOneOf(calls[i].name, "matmul mm")) continue;
    const bool left = SameSizes(calls[i].sizes(0), square), right = SameSizes(calls[i].sizes(1), square);
    if (!left && !right) continue;
    // Where both are square it may be either: they cost the same.
    return Match{fmt::format("{}|{}|{}", left ? "left" : "right", calls[at].text, calls[i].text), {at, i}};
  }
  return std::nullopt;
}

std::optional<Match> Bilinear(const StepCalls& calls, std::uint32_t at) {
  if (calls[at].sizes(2).size() != 3) return std::nullopt;
  return Match{calls[at].text, {at}};
}

// One matrix that is expanded to be multiplied with each of a batch: "right|expand|f32[8,16,4]!;f32[8,4,4]!".
std::optional<Match> OneForAll(const StepCalls& calls, std::uint32_t at) {
  const auto expanded = Before(calls, at, "expand repeat expand_as", kMostCallsBetween);
  if (!expanded) return std::nullopt;
  const auto of = [&](std::size_t i) {
    const Sizes whole = calls[at].sizes(i), one = calls[*expanded].sizes(0);
    if (whole.size() != 3 || whole[0] < 2) return false;
    if (one.size() == 2) return SameSizes(one, whole.subspan(1));
    return one.size() == 3 && one[0] == 1 && SameSizes(one.subspan(1), whole.subspan(1));
  };
  const bool left = of(0), right = of(1);
  if (left == right) return std::nullopt;
  return Match{fmt::format("{}|{}|{}", left ? "left" : "right", calls[*expanded].name, calls[at].text),
               {at, *expanded}};
}

constexpr std::array<Form, 5> kContractionForms{{
    {.id = "product-by-broadcast",
     .slow = "a product of matrices is computed number by number, by broadcasting and a sum",
     .better = "einsum",
     .fix = "Write it as a matrix product (a @ b.T) or with torch.einsum.",
     .anchor = "mul",
     .match = BroadcastProduct},
    {.id = "product-order",
     .slow = "three matrices are multiplied in the costlier order",
     .better = "the other order",
     .fix = "Multiply the small ones first: a @ (b @ c) in place of (a @ b) @ c, or call torch.linalg.multi_dot.",
     .anchor = "matmul mm bmm",
     .match = Order},
    {.id = "diagonal-product",
     .slow = "a vector is written out as a diagonal matrix to be multiplied",
     .better = "a product with the vector",
     .fix = "Write v.unsqueeze(1) * x for torch.diag(v) @ x, and x * v for x @ torch.diag(v).",
     .anchor = "diag diag_embed",
     .match = Diagonal},
    {.id = "bilinear",
     .slow = "a bilinear layer takes its products number by number",
     .better = "two matrix products",
     .fix =
         "Multiply the first input with the weights as one matrix, then with the second: ((x1 @ "
         "weight.permute(1, 0, 2).flatten(1)).unflatten(-1, weight.shape[::2]) @ x2.unsqueeze(-1)).squeeze(-1) + bias.",
     .anchor = "bilinear",
     .match = Bilinear},
    {.id = "one-matrix-for-all",
     .slow = "one matrix is expanded to be multiplied with each of a batch",
     .better = "one matrix product",
     .fix = "Multiply with the matrix as it is: x @ w takes every sample of a batch.",
     .anchor = "bmm matmul",
     .match = OneForAll},
}};

}  // namespace

std::span<const Form> ContractionForms() {
  return kContractionForms;
}

}  // namespace loopscope
