// Losses that are written out.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/forms/form.h"

namespace loopscope {
namespace {

std::optional<Match> AfterSigmoid(const StepCalls& calls, std::uint32_t at) {
  const Calls up = Up(calls, at, "view reshape squeeze flatten", "sigmoid");
  if (up.empty()) return std::nullopt;
  return Match{calls[at].text, {at, up.back()}};
}

// At sigmoid: two logarithms of it, added with their labels.
std::optional<Match> BinaryWrittenOut(const StepCalls& calls, std::uint32_t at) {
  constexpr std::string_view kBefore = "add sub rsub clamp clamp_min mul", kAfter = "mul add sub neg mean sum";
  Match match{calls[at].text, {at}};
  int logarithms = 0;
  Calls open = calls[at].to;
  while (!open.empty() && match.calls.size() < 20) {
    const std::uint32_t one = open.back();
    open.pop_back();
    if (std::ranges::find(match.calls, one) != match.calls.end()) continue;
    const bool log = calls[one].name == "aten::log";
    if (!log && !IsOneOf(calls[one].name, kBefore) && !IsOneOf(calls[one].name, kAfter)) continue;
    logarithms += log ? 1 : 0;
    match.calls.push_back(one);
    if (!IsOneOf(calls[one].name, "mean sum")) open.insert(open.end(), calls[one].to.begin(), calls[one].to.end());
  }
  if (logarithms != 2) return std::nullopt;
  return match;
}

std::optional<Match> LogOfSoftmax(const StepCalls& calls, std::uint32_t at) {
  const Calls up = Up(calls, at, "log add clamp view reshape", "softmax");
  if (up.size() < 2) return std::nullopt;
  const bool logarithm = std::ranges::any_of(up, [&](std::uint32_t one) { return calls[one].name == "aten::log"; });
  if (!logarithm) return std::nullopt;
  Match match{calls[at].text, up};
  match.calls.push_back(at);
  return match;
}

// At log_softmax: times one-hot labels of its shape, then summed.
std::optional<Match> OneHotLabels(const StepCalls& calls, std::uint32_t at) {
  const auto scores = calls[at].sizes(0);
  const Calls product = Down(calls, at, "", "mul");
  if (product.empty() || scores.size() != 2) return std::nullopt;
  const Calls sum = Down(calls, product.back(), "neg", "sum mean");
  if (sum.empty()) return std::nullopt;
  bool labels = false;
  for (std::uint32_t i = 0; i < calls.all().size() && !labels; ++i) {
    if (calls[i].step != calls[at].step) continue;
    labels = (calls[i].name == "aten::one_hot" &&
              Elements(calls[i].sizes(0)) * calls[i].number(1).value_or(0) == Elements(scores)) ||
             (IsOneOf(calls[i].name, "scatter_ scatter") && SameSizes(calls[i].sizes(0), scores));
  }
  if (!labels) return std::nullopt;
  Match match{calls[at].text, {at, product.back()}};
  match.calls.insert(match.calls.end(), sum.begin(), sum.end());
  return match;
}

// Labels that were made one-hot are given as probabilities: "f32[8,5]!;i64[8]".
std::optional<Match> OneHotProbabilities(const StepCalls& calls, std::uint32_t at) {
  constexpr std::uint32_t kMostBetween = 8;
  const auto scores = calls[at].sizes(0);
  const auto labels = Before(calls, at, "one_hot", kMostBetween);
  if (!labels || scores.size() != 2 || !SameSizes(calls[at].sizes(1), scores)) return std::nullopt;
  const auto rows = calls[*labels].sizes(0);
  if (rows.size() != 1 || rows[0] != scores[0] || calls[*labels].number(1) != static_cast<double>(scores[1])) {
    return std::nullopt;
  }
  Match match{fmt::format("{}[{},{}]!", calls[at].inputs[0].dtype, scores[0], scores[1]), {at, *labels}};
  for (std::uint32_t between = *labels + 1; between < at; ++between) {
    if (IsOneOf(calls[between].name, "to _to_copy float")) match.calls.push_back(between);
  }
  return match;
}

constexpr std::array<Form, 5> kLossesForms{{
    {.id = "loss-after-sigmoid",
     .slow = "a binary cross-entropy is taken of sigmoid's result",
     .better = "binary_cross_entropy_with_logits",
     .fix = "Leave sigmoid out and call torch.nn.functional.binary_cross_entropy_with_logits, which is safer for large "
            "numbers too.",
     .anchor = "binary_cross_entropy",
     .match = AfterSigmoid},
    {.id = "binary-loss-written-out",
     .slow = "a binary cross-entropy is written out",
     .better = "binary_cross_entropy_with_logits",
     .fix = "Call torch.nn.functional.binary_cross_entropy_with_logits on what sigmoid is given.",
     .anchor = "sigmoid",
     .match = BinaryWrittenOut},
    {.id = "log-of-softmax",
     .slow = "a cross-entropy is taken of softmax and its logarithm",
     .better = "cross_entropy",
     .fix = "Call torch.nn.functional.cross_entropy on what softmax is given.",
     .anchor = "nll_loss nll_loss_nd",
     .match = LogOfSoftmax},
    {.id = "one-hot-labels",
     .slow = "a cross-entropy is a sum over one-hot labels",
     .better = "cross_entropy",
     .fix = "Call torch.nn.functional.cross_entropy with the labels as numbers; it takes label_smoothing too.",
     .anchor = "log_softmax",
     .match = OneHotLabels},
    {.id = "one-hot-probabilities",
     .slow = "a cross-entropy is given one-hot labels as probabilities",
     .better = "cross_entropy with the labels as numbers",
     .fix = "Call torch.nn.functional.cross_entropy with the labels as they were before one_hot.",
     .anchor = "cross_entropy_loss",
     .match = OneHotProbabilities},
}};

}  // namespace

std::span<const Form> LossForms() {
  return kLossesForms;
}

}  // namespace loopscope
