// Activations and norms that are written out, one pass over memory for each of their operators.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/forms/form.h"

namespace loopscope {
namespace {

// A number, or a tensor that holds one.
bool IsNumber(const Call& call, std::size_t i) {
  if (i >= call.inputs.size()) return false;
  return call.inputs[i].is_tensor ? call.inputs[i].sizes.empty() : !call.inputs[i].scalar.empty();
}

bool SameShape(const StepCalls& calls, std::uint32_t a, std::uint32_t b) {
  return SameSizes(calls[a].sizes(0), calls[b].sizes(0));
}

// The one that reads the result of `at`, of these names and with numbers of the same shape.
std::optional<std::uint32_t> Next(const StepCalls& calls, std::uint32_t at, std::string_view names) {
  for (const std::uint32_t one : calls[at].to) {
    const bool shaped =
        SameSizes(calls[one].sizes(0), calls[at].sizes(0)) || SameSizes(calls[one].sizes(1), calls[at].sizes(0));
    if (shaped && IsOneOf(calls[one].name, names)) return one;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Previous(const StepCalls& calls, std::uint32_t at, std::string_view names) {
  for (const std::uint32_t one : calls[at].from) {
    if (IsOneOf(calls[one].name, names) && SameShape(calls, one, at)) return one;
  }
  return std::nullopt;
}

// "f32[…]!|tanh": x * 0.5 * (1 + tanh(c * (x + d * x**3))), or with erf(x / sqrt(2)).
std::optional<Match> Gelu(const StepCalls& calls, std::uint32_t at) {
  const bool tanh = calls[at].name == "aten::tanh";
  const auto scaled = Previous(calls, at, "mul div");
  const auto added = Next(calls, at, "add");
  if (!scaled || !added || !IsNumber(calls[*added], 1)) return std::nullopt;
  const auto product = Next(calls, *added, "mul");
  if (!product) return std::nullopt;
  Match match{{}, {at, *added, *product}};
  // What else multiplies by a half, before or after.
  if (const auto half = Next(calls, *product, "mul"); half && IsNumber(calls[*half], 1)) match.calls.push_back(*half);
  for (const std::uint32_t one : calls[*product].from) {
    if (one != *added && calls[one].name == "aten::mul" && IsNumber(calls[one], 1)) match.calls.push_back(one);
  }
  const Calls inside = tanh ? MadeBy(calls, at, "mul add pow div") : Calls{*scaled};
  if (tanh && inside.size() < 4) return std::nullopt;
  match.calls.insert(match.calls.end(), inside.begin(), inside.end());
  match.work = fmt::format("{}|{}", calls[at].text, tanh ? "tanh" : "none");
  return match;
}

std::optional<Match> Silu(const StepCalls& calls, std::uint32_t at) {
  const auto product = Next(calls, at, "mul");
  if (!product || calls[at].from.empty()) return std::nullopt;
  const auto& factors = calls[*product].from;
  if (std::ranges::find(factors, calls[at].from.front()) == factors.end()) return std::nullopt;
  return Match{calls[at].text, {at, *product}};
}

bool KeepsOne(std::span<const std::int64_t> whole, std::span<const std::int64_t> reduced) {
  if (whole.size() < 2 || whole.size() != reduced.size() || reduced.back() != 1 || whole.back() == 1) return false;
  return SameSizes(whole.first(whole.size() - 1), reduced.first(reduced.size() - 1));
}

// At the difference of x and its mean over the last dimension, which is then divided by a deviation.
std::optional<Match> LayerNorm(const StepCalls& calls, std::uint32_t at) {
  constexpr std::string_view kDeviation = "std var sqrt rsqrt add mean pow square mul clamp";
  const auto x = calls[at].sizes(0);
  if (!KeepsOne(x, calls[at].sizes(1))) return std::nullopt;
  const auto mean =
      std::ranges::find_if(calls[at].from, [&](std::uint32_t one) { return calls[one].name == "aten::mean"; });
  if (mean == calls[at].from.end()) return std::nullopt;
  // Weights may come between.
  Calls down = Down(calls, at, "mul", "div mul");
  while (!down.empty() && !KeepsOne(x, calls[down.back()].sizes(1))) {
    const Calls further = Down(calls, down.back(), "", "div mul");
    if (further.empty() || down.size() > 3) return std::nullopt;
    down.insert(down.end(), further.begin(), further.end());
  }
  if (down.empty()) return std::nullopt;
  const std::uint32_t quotient = down.back();
  Match match{{}, {at, *mean}};
  match.calls.insert(match.calls.end(), down.begin(), down.end());
  bool deviation = false;
  for (const std::uint32_t one : MadeBy(calls, quotient, std::string(kDeviation) + " sub")) {
    deviation |= IsOneOf(calls[one].name, "std var sqrt rsqrt");
    // Differences and means of x itself, made anew for the deviation.
    const auto sizes = calls[one].sizes(0);
    if (SameSizes(sizes, x) || KeepsOne(x, sizes)) match.calls.push_back(one);
  }
  if (!deviation) return std::nullopt;
  std::uint32_t last = quotient;
  for (int affine = 0; affine < 2; ++affine) {
    const auto next = Next(calls, last, affine == 0 ? "mul add" : "add");
    if (!next) break;
    const bool per_feature = calls[*next].sizes(1).size() == 1 || calls[*next].sizes(0).size() == 1;
    if (!per_feature) break;
    match.calls.push_back(*next);
    last = *next;
  }
  match.work = calls[at].text;
  return match;
}

// exp(x) / exp(x).sum(), with or without the maximum taken off.
std::optional<Match> Softmax(const StepCalls& calls, std::uint32_t at) {
  const auto quotient = Next(calls, at, "div");
  const Calls sum = Down(calls, at, "", "sum");
  if (!quotient || sum.empty()) return std::nullopt;
  const auto& parts = calls[*quotient].from;
  if (std::ranges::find(parts, sum.back()) == parts.end() || calls[sum.back()].inputs.size() < 2) return std::nullopt;
  Match match{fmt::format("{}|{}", calls[at].text, calls[sum.back()].inputs[1].scalar), {at, *quotient, sum.back()}};
  if (const auto shifted = Previous(calls, at, "sub")) {
    match.calls.push_back(*shifted);
    for (const std::uint32_t one : calls[*shifted].from) {
      if (IsOneOf(calls[one].name, "max amax")) match.calls.push_back(one);
    }
  }
  return match;
}

std::optional<Match> Power(const StepCalls& calls, std::uint32_t at) {
  const auto exponent = calls[at].number(1);
  if (!exponent || (*exponent != 0.5 && *exponent != -0.5 && *exponent != 3 && *exponent != 4)) return std::nullopt;
  return Match{calls[at].text, {at}};
}

// Copies along dimensions of size 1, of which an operator that broadcasts has no need.
std::optional<Match> Repeat(const StepCalls& calls, std::uint32_t at) {
  const auto input = calls[at].sizes(0);
  const auto reader = Down(calls, at, "", "add sub mul div");
  if (reader.empty() || input.empty() || calls[at].inputs.size() < 2) return std::nullopt;
  const auto whole = calls[reader.back()].sizes(0);
  if (whole.size() != input.size()) return std::nullopt;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (input[i] != whole[i] && input[i] != 1) return std::nullopt;
  }
  return Match{fmt::format("{}|{}|{}", calls[at].text, calls[reader.back()].name, calls[reader.back()].text),
               {at, reader.back()}};
}

constexpr std::array<Form, 6> kElementwiseForms{{
    {.id = "gelu-written-out",
     .slow = "GELU is written out, one operator at a time",
     .better = "gelu",
     .fix = "Call torch.nn.functional.gelu(x), or gelu(x, approximate=\"tanh\") for the form with tanh.",
     .anchor = "tanh erf",
     .match = Gelu},
    {.id = "silu-written-out",
     .slow = "x * sigmoid(x) is computed by two operators",
     .better = "silu",
     .fix = "Call torch.nn.functional.silu(x).",
     .anchor = "sigmoid",
     .match = Silu},
    {.id = "layer-norm-written-out",
     .slow = "a layer norm is written out, one operator at a time",
     .better = "layer_norm",
     .fix = "Use torch.nn.LayerNorm or torch.nn.functional.layer_norm. It adds eps to the variance; a form that adds "
            "it to the deviation, or divides by n - 1, differs in the last digits.",
     .anchor = "sub",
     .match = LayerNorm},
    {.id = "softmax-written-out",
     .slow = "softmax is written out (exp, sum, division)",
     .better = "softmax",
     .fix = "Call torch.softmax(x, dim).",
     .anchor = "exp",
     .match = Softmax},
    {.id = "power-of-number",
     .slow = "powers are computed by pow",
     .better = "products or roots",
     .fix = "Write x * x * x for pow(x, 3) and torch.sqrt(x) or torch.rsqrt(x) for pow(x, 0.5) or pow(x, -0.5).",
     .anchor = "pow",
     .match = Power},
    {.id = "repeat-to-broadcast",
     .slow = "repeat copies a tensor for an operator that broadcasts",
     .better = "the operator on the tensor as it is",
     .fix = "Leave repeat out, or call expand, which copies nothing.",
     .anchor = "repeat",
     .match = Repeat},
}};

}  // namespace

std::span<const Form> ElementwiseForms() {
  return kElementwiseForms;
}

}  // namespace loopscope
