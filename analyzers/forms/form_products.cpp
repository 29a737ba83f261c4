// Products, convolutions, decompositions and transforms.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "analyzers/forms/form.h"
#include "profiler/core/trace/inputs.h"

namespace loopscope {
namespace {

// Differences of all pairs of rows: broadcast along two dimensions, then squared and summed along the last.
std::optional<Match> Pairs(const StepCalls& calls, std::uint32_t at) {
  const auto a = calls[at].sizes(0), b = calls[at].sizes(1);
  if (a.size() < 3 || a.size() != b.size() || a.back() != b.back() || a.back() < 2) return std::nullopt;
  const std::size_t rows = a.size() - 3, columns = a.size() - 2;
  const bool one_way = a[columns] == 1 && b[rows] == 1 && a[rows] > 1 && b[columns] > 1;
  const bool other_way = b[columns] == 1 && a[rows] == 1 && b[rows] > 1 && a[columns] > 1;
  if (!one_way && !other_way) return std::nullopt;
  const Calls down = Down(calls, at, "pow square mul", "sum linalg_vector_norm norm");
  if (down.empty()) return std::nullopt;
  const Call& sum = calls[down.back()];
  const bool root = sum.name != "aten::sum";
  if (root) {
    // Of Euclid's norm alone.
    if (down.size() > 1 || sum.number(1).value_or(2) != 2) return std::nullopt;
  } else if (down.size() != 2 || (calls[down[0]].name == "aten::pow" && calls[down[0]].number(1) != 2)) {
    return std::nullopt;
  }
  Match match{fmt::format("{}|{}", calls[at].text, root ? "norm" : "sum"), down};
  match.calls.push_back(at);
  return match;
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

bool AllOne(std::span<const std::int64_t> sizes) {
  return std::ranges::all_of(sizes, [](std::int64_t size) { return size == 1; });
}

// input;weight;bias;stride;padding;dilation;groups
std::optional<Match> KernelOfOne(const StepCalls& calls, std::uint32_t at) {
  const Call& call = calls[at];
  const auto weight = call.sizes(1);
  if (weight.size() < 3 || call.inputs.size() < 7 || !AllOne(weight.subspan(2))) return std::nullopt;
  const auto all_are = [&](std::size_t i, char digit) {
    const std::string_view text = call.inputs[i].scalar;
    return text.find_first_not_of(std::string("[], ") + digit) == text.npos;
  };
  if (!all_are(3, '1') || !all_are(4, '0') || call.number(6) != 1) return std::nullopt;
  return Match{call.text, {at}};
}

std::optional<Match> Layout(const StepCalls& calls, std::uint32_t at) {
  const Call& call = calls[at];
  const auto input = call.sizes(0), weight = call.sizes(1);
  if (input.size() != 4 || weight.size() != 4 || input[1] < 8 || AllOne(weight.subspan(2))) return std::nullopt;
  return Match{call.text, {at}};
}

// Patches as columns, times a matrix.
std::optional<Match> Unfolded(const StepCalls& calls, std::uint32_t at) {
  constexpr std::uint32_t kMostBetween = 8;
  const auto input = calls[at].sizes(0);
  if (input.size() != 4) return std::nullopt;
  for (std::uint32_t i = at + 1; i < std::min<std::size_t>(at + kMostBetween, calls.all().size()); ++i) {
    if (!IsOneOf(calls[i].name, "matmul bmm einsum linear") || calls[i].step != calls[at].step) continue;
    return Match{fmt::format("{}|{}", calls[at].text, calls[i].text), {at, i}};
  }
  return std::nullopt;
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

constexpr std::array<Form, 9> kProductsForms{{
    {.id = "differences-of-pairs",
     .slow = "distances of all pairs are computed number by number",
     .better = "one matrix product",
     .fix = "Use torch.cdist, or a.pow(2).sum(-1, keepdim=True) + b.pow(2).sum(-1) - 2 * a @ b.T.",
     .anchor = "sub",
     .match = Pairs},
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
    {.id = "kernel-of-one",
     .slow = "a convolution has a kernel of one",
     .better = "a matrix product",
     .fix = "Use torch.nn.Linear with the channels last, or torch.matmul(weight, input).",
     .anchor = "conv1d conv2d conv3d",
     .match = KernelOfOne},
    {.id = "channels-first",
     .slow = "convolutions run with their channels first",
     .better = "channels last",
     .fix = "Convert the model and its input: model.to(memory_format=torch.channels_last), "
            "images.to(memory_format=torch.channels_last).",
     .anchor = "conv2d",
     .match = Layout},
    {.id = "unfolded-convolution",
     .slow = "a convolution is written out as unfold and a product",
     .better = "conv2d",
     .fix = "Call torch.nn.functional.conv2d with the weights as [out, in, height, width].",
     .anchor = "im2col",
     .match = Unfolded},
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
