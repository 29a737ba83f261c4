// Activations that are written out, one pass over memory for each of their operators.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analyzers/forms/form.h"

namespace loopscope {
namespace {

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

// x * relu6(x + 3) / 6, the division before or after the product.
std::optional<Match> HardSwish(const StepCalls& calls, std::uint32_t at) {
  const auto added = Previous(calls, at, "add");
  if (!added || !IsNumber(calls[*added], 1) || calls[*added].from.empty()) return std::nullopt;
  auto scaled = Next(calls, at, "div mul");
  if (!scaled) return std::nullopt;
  std::optional<std::uint32_t> product;
  if (IsNumber(calls[*scaled], 1)) {
    product = Next(calls, *scaled, "mul");
  } else {
    product = scaled;
    scaled = Next(calls, *product, "div mul");
    if (!scaled || !IsNumber(calls[*scaled], 1)) return std::nullopt;
  }
  if (!product || std::ranges::find(calls[*product].from, calls[*added].from.front()) == calls[*product].from.end()) {
    return std::nullopt;
  }
  return Match{calls[*added].text, {at, *added, *scaled, *product}};
}

// The larger of x and a multiple of x or zeros, by maximum or by a comparison and where: "maximum|leaky|f32[…]!".
std::optional<Match> Relu(const StepCalls& calls, std::uint32_t at) {
  constexpr std::uint32_t kMostBetween = 4;
  const Call& call = calls[at];
  const bool where = call.name == "aten::where";
  const std::size_t first = where ? 1 : 0;
  if (call.inputs.size() <= first + 1 || call.from.empty() || call.from.size() > 2) return std::nullopt;
  const auto x = call.sizes(first);
  if (x.empty() ||
      (call.inputs[first + 1].is_tensor && !call.sizes(first + 1).empty() && !SameSizes(x, call.sizes(first + 1)))) {
    return std::nullopt;
  }
  Match match{{}, {at}};
  bool leaky = false;
  for (const std::uint32_t one : call.from) {
    if (calls[one].name != "aten::mul" || !IsNumber(calls[one], 1)) continue;
    // A multiple of what the other input is.
    for (const std::uint32_t other : call.from) {
      if (other == one || std::ranges::find(calls[one].from, other) == calls[one].from.end()) continue;
      leaky = true;
      match.calls.push_back(one);
    }
  }
  const auto zeros = Before(calls, at, "zeros_like zeros", kMostBetween);
  if (!leaky && (call.from.size() != 1 || (!zeros && call.number(first + 1) != 0))) return std::nullopt;
  if (!leaky && zeros) match.calls.push_back(*zeros);
  if (where) {
    const auto compared = Before(calls, at, "gt ge lt le", kMostBetween);
    if (!compared || calls[*compared].number(1) != 0 || !SameSizes(calls[*compared].sizes(0), x)) return std::nullopt;
    match.calls.push_back(*compared);
  }
  match.work = fmt::format("{}|{}|{}[{}]!", where ? "where" : "maximum", leaky ? "leaky" : "zero",
                           call.inputs[first].dtype, fmt::join(x, ","));
  return match;
}

std::optional<Match> Power(const StepCalls& calls, std::uint32_t at) {
  const auto exponent = calls[at].number(1);
  if (!exponent || (*exponent != 0.5 && *exponent != -0.5 && *exponent != 1.5 && *exponent != 3 && *exponent != 4))
    return std::nullopt;
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

constexpr std::array<Form, 7> kElementwiseForms{{
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
    {.id = "softmax-written-out",
     .slow = "softmax is written out (exp, sum, division)",
     .better = "softmax",
     .fix = "Call torch.softmax(x, dim).",
     .anchor = "exp",
     .match = Softmax},
    {.id = "hardswish-written-out",
     .slow = "x * relu6(x + 3) / 6 is computed one operator at a time",
     .better = "hardswish",
     .fix = "Call torch.nn.functional.hardswish(x).",
     .anchor = "relu6 hardtanh clamp",
     .match = HardSwish},
    {.id = "relu-written-out",
     .slow = "negative numbers are replaced by a comparison or a maximum",
     .better = "relu or leaky_relu",
     .fix = "Call torch.relu(x), or torch.nn.functional.leaky_relu(x, slope).",
     .anchor = "maximum max where",
     .match = Relu},
    {.id = "power-of-number",
     .slow = "powers are computed by pow",
     .better = "products or roots",
     .fix = "Write x * x * x for pow(x, 3), x * torch.sqrt(x) for pow(x, 1.5) and torch.sqrt(x) or torch.rsqrt(x) for "
            "pow(x, 0.5) or pow(x, -0.5).",
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
