// Products, decompositions and transforms.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "analyzers/forms/form.h"
#include "profiler/core/trace/inputs.h"

namespace loopscope {
namespace {

// Whether it takes all pairs of rows: [.., N, 1, D] and [.., 1, M, D], in either order.
bool PairsRows(const Call& call) {
  const auto a = call.sizes(0), b = call.sizes(1);
  if (a.size() < 3 || a.size() != b.size() || a.back() != b.back() || a.back() < 2) return false;
  const std::size_t rows = a.size() - 3, columns = a.size() - 2;
  const bool one_way = a[columns] == 1 && b[rows] == 1 && a[rows] > 1 && b[columns] > 1;
  const bool other_way = b[columns] == 1 && a[rows] == 1 && b[rows] > 1 && a[columns] > 1;
  return one_way || other_way;
}

// Differences of all pairs of rows: broadcast along two dimensions, then squared and summed along the last.
std::optional<Match> Pairs(const StepCalls& calls, std::uint32_t at) {
  if (!PairsRows(calls[at])) return std::nullopt;
  const Calls down = Down(calls, at, "pow square mul abs", "sum linalg_vector_norm norm");
  if (down.empty()) return std::nullopt;
  const Call& sum = calls[down.back()];
  const bool root = sum.name != "aten::sum";
  if (root) {
    // Of Euclid's norm alone.
    if (down.size() > 1 || sum.number(1).value_or(2) != 2) return std::nullopt;
  } else if (down.size() != 2 || (calls[down[0]].name == "aten::pow" && calls[down[0]].number(1) != 2)) {
    return std::nullopt;
  }
  const std::string_view kind = root ? "norm" : calls[down[0]].name == "aten::abs" ? "abs" : "sum";
  Match match{fmt::format("{}|{}", calls[at].text, kind), down};
  match.calls.push_back(at);
  return match;
}

// input;other;dim;eps
std::optional<Match> Cosines(const StepCalls& calls, std::uint32_t at) {
  const double dim = calls[at].number(2).value_or(1);
  const auto last = static_cast<double>(calls[at].sizes(0).size()) - 1;
  if (!PairsRows(calls[at]) || (dim != -1 && dim != last)) return std::nullopt;
  return Match{calls[at].text, {at}};
}

// Whether one of the calls was made from another.
bool Depend(const StepCalls& calls, const Calls& all) {
  Calls open(all.begin() + 1, all.end());
  std::vector<bool> seen(calls.all().size());
  while (!open.empty()) {
    const std::uint32_t one = open.back();
    open.pop_back();
    for (const std::uint32_t from : calls[one].from) {
      if (seen[from] || from < all.front()) continue;
      if (std::ranges::binary_search(all, from)) return true;
      seen[from] = true;
      open.push_back(from);
    }
  }
  return false;
}

// One matrix for several of them is a batch that was cut up, not many matrices.
bool ShareAMatrix(const StepCalls& calls, const Calls& all) {
  std::set<std::uint32_t> seen;
  for (const std::uint32_t one : all) {
    for (const TensorText& input : calls[one].inputs) {
      if (input.leaf != 0 && input.sizes.size() == 2 && !seen.insert(input.leaf).second) return true;
    }
  }
  return false;
}

std::optional<Match> ManyProducts(const StepCalls& calls, std::uint32_t at) {
  constexpr std::size_t kFewest = 8;
  if (calls[at].sizes(0).size() != 2) return std::nullopt;
  const Calls all = Repeated(calls, at, true);
  if (all.size() < kFewest || ShareAMatrix(calls, all) || Depend(calls, all)) return std::nullopt;
  return Match{fmt::format("{}|{}|{}", all.size(), calls[at].name, calls[at].text), all};
}

std::optional<Match> Inverse(const StepCalls& calls, std::uint32_t at) {
  const Calls down = Down(calls, at, "", "matmul mm bmm mv");
  if (down.empty()) return std::nullopt;
  return Match{fmt::format("{}|{}", calls[at].text, calls[down.back()].text), {at, down.back()}};
}

std::int64_t LargestFactor(std::int64_t n) {
  std::int64_t largest = 1;
  for (std::int64_t factor = 2; factor * factor <= n; ++factor) {
    while (n % factor == 0) {
      largest = factor;
      n /= factor;
    }
  }
  return std::max(largest, n);
}

// A transform along one dimension whose length has a large prime factor. input;n;dim;norm
std::optional<Match> Transform(const StepCalls& calls, std::uint32_t at) {
  constexpr std::int64_t kLargestFast = 11;  // factors for which libraries have kernels
  const Call& call = calls[at];
  const auto input = call.sizes(0);
  if (input.empty()) return std::nullopt;
  const auto dim = static_cast<std::int64_t>(call.number(2).value_or(-1));
  const std::int64_t place = dim < 0 ? dim + static_cast<std::int64_t>(input.size()) : dim;
  if (place < 0 || place >= static_cast<std::int64_t>(input.size())) return std::nullopt;
  const auto length =
      static_cast<std::int64_t>(call.number(1).value_or(static_cast<double>(input[static_cast<std::size_t>(place)])));
  if (LargestFactor(length) <= kLargestFast) return std::nullopt;
  return Match{fmt::format("{}|{}", call.name, call.text), {at}};
}

// input;full_matrices;driver
std::optional<Match> FullMatrices(const StepCalls& calls, std::uint32_t at) {
  const auto input = calls[at].sizes(0);
  const bool full = calls[at].inputs.size() > 1 && calls[at].inputs[1].scalar == "true";
  if (input.size() < 2 || !full || input[input.size() - 1] == input[input.size() - 2]) return std::nullopt;
  return Match{calls[at].text, {at}};
}

std::optional<Match> Antialiased(const StepCalls& calls, std::uint32_t at) {
  return Match{fmt::format("{}|{}", calls[at].name, calls[at].text), {at}};
}

constexpr std::array<Form, 7> kProductsForms{{
    {.id = "differences-of-pairs",
     .slow = "distances of all pairs are computed number by number",
     .better = "cdist or one matrix product",
     .fix = "Use torch.cdist (p=1 for absolute differences), or a.pow(2).sum(-1, keepdim=True) + b.pow(2).sum(-1) - 2 "
            "* a @ b.T.",
     .anchor = "sub",
     .match = Pairs},
    {.id = "cosines-of-pairs",
     .slow = "cosines of all pairs are computed number by number",
     .better = "one matrix product of normalized rows",
     .fix = "Write torch.nn.functional.normalize(a, dim=-1) @ torch.nn.functional.normalize(b, dim=-1).T.",
     .anchor = "cosine_similarity",
     .match = Cosines},
    {.id = "product-by-product",
     .slow = "products of the same size are computed one after another",
     .better = "one batched product",
     .fix = "Keep the matrices in one tensor and multiply them at once with torch.bmm or torch.einsum.",
     .anchor = "mm matmul linear addmm",
     .match = ManyProducts},
    {.id = "inverse-then-product",
     .slow = "a matrix is inverted to be multiplied",
     .better = "linalg.solve",
     .fix = "Call torch.linalg.solve(a, b) in place of torch.linalg.inv(a) @ b.",
     .anchor = "linalg_inv inverse",
     .match = Inverse},
    {.id = "transform-length",
     .slow = "a Fourier transform has a length with a large prime factor",
     .better = "the next length of small factors",
     .fix = "Pad the signal, or choose a length whose prime factors are 2, 3 and 5.",
     .anchor = "fft_fft fft_rfft fft_ifft",
     .match = Transform},
    {.id = "full-matrices",
     .slow = "a singular value decomposition makes the full square matrices",
     .better = "full_matrices=False",
     .fix = "Call torch.linalg.svd with full_matrices=False.",
     .anchor = "linalg_svd",
     .match = FullMatrices},
    {.id = "antialiased-resize",
     .slow = "pictures are resized with antialiasing",
     .better = "a resize without it",
     .fix = "Resize once, before training, or pass antialias=False where the picture grows or shrinks little: the "
            "pictures then differ.",
     .anchor = "_upsample_bilinear2d_aa _upsample_bicubic2d_aa",
     .match = Antialiased},
}};

}  // namespace

std::span<const Form> ProductForms() {
  return kProductsForms;
}

}  // namespace loopscope
