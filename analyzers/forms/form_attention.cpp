// Attention that is computed one operator at a time.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/forms/form.h"

namespace loopscope {
namespace {

constexpr std::string_view kScoring = "matmul bmm baddbmm einsum";
constexpr std::string_view kBetween =
    "mul mul_ div div_ add add_ sub sub_ masked_fill masked_fill_ where dropout to _to_copy type_as float view reshape "
    "_unsafe_view transpose permute contiguous clone expand squeeze unsqueeze flatten unflatten clamp maximum "
    "nan_to_num softmax";
constexpr std::string_view kMasks = "masked_fill masked_fill_ where add add_ baddbmm";

bool Masks(const StepCalls& calls, std::uint32_t at) {
  // A number that is added is no mask.
  return IsOneOf(calls[at].name, kMasks) && !calls[at].sizes(1).empty();
}

// "f32[2,8,400,400]!;-1;-|D|Dv|masked|dropout": softmax over the keys; the width of queries and of values.
std::optional<Match> MatchSoftmax(const StepCalls& calls, std::uint32_t at) {
  const auto scores = calls[at].sizes(0);
  const auto dim = calls[at].number(1);
  if (scores.size() < 3 || !dim || (*dim != -1 && *dim != static_cast<double>(scores.size()) - 1)) return std::nullopt;
  const Calls up = Up(calls, at, kBetween, kScoring), down = Down(calls, at, kBetween, kScoring);
  if (up.empty() || down.empty()) return std::nullopt;
  const double queries = Elements(scores.first(scores.size() - 1)), keys = static_cast<double>(scores.back()),
               batch = Elements(scores.first(scores.size() - 2));
  // einsum has its operands in a list, whose shapes are not looked at: as wide as usual.
  double width = 64, value_width = 64;
  const Call &first = calls[up.back()], &last = calls[down.back()];
  if (const auto query = first.sizes(first.name == "aten::baddbmm" ? 1 : 0); !query.empty()) {
    width = Elements(query) / queries;
  }
  const auto weights = last.sizes(0), values = last.sizes(1);
  if (!values.empty()) {
    if (Elements(weights) != queries * keys) return std::nullopt;
    value_width = Elements(values) / (batch * keys);
  }
  // Shared keys or values, or a product of something else.
  if (width < 1 || value_width < 1 || width != static_cast<double>(static_cast<std::int64_t>(width)) ||
      value_width != static_cast<double>(static_cast<std::int64_t>(value_width))) {
    return std::nullopt;
  }
  Match match{{}, up};
  match.calls.push_back(at);
  match.calls.insert(match.calls.end(), down.begin(), down.end());
  const bool masked = std::ranges::any_of(match.calls, [&](std::uint32_t one) { return Masks(calls, one); });
  const auto dropout =
      std::ranges::find_if(match.calls, [&](std::uint32_t one) { return calls[one].name == "aten::dropout"; });
  match.work = fmt::format("{}|{}|{}|{}|{}", calls[at].text, width, value_width, masked ? 1 : 0,
                           dropout == match.calls.end() ? 0.0 : calls[*dropout].number(1).value_or(0));
  return match;
}

// The mean of the weights over the heads, which MultiheadAttention makes where they are asked for, and nobody reads.
Calls UnreadMean(const StepCalls& calls, std::uint32_t at) {
  const Calls mean = Down(calls, at, "view reshape dropout", "mean");
  return mean.empty() || !calls[mean.back()].to.empty() ? Calls{} : mean;
}

std::optional<Match> WrittenOut(const StepCalls& calls, std::uint32_t at) {
  return UnreadMean(calls, at).empty() ? MatchSoftmax(calls, at) : std::nullopt;
}

std::optional<Match> WithWeights(const StepCalls& calls, std::uint32_t at) {
  const Calls mean = UnreadMean(calls, at);
  std::optional<Match> match = mean.empty() ? std::nullopt : MatchSoftmax(calls, at);
  if (match) match->calls.insert(match->calls.end(), mean.begin(), mean.end());
  return match;
}

constexpr std::array<Form, 2> kAttentionForms{{
    {.id = "attention-weights",
     .slow = "need_weights: attention weights are made that nobody reads",
     .better = "scaled_dot_product_attention",
     .fix = "Call it with need_weights=False where the weights are not used.",
     .anchor = "softmax",
     .match = WithWeights},
    {.id = "attention-written-out",
     .slow = "attention is computed one operator at a time",
     .better = "scaled_dot_product_attention",
     .fix = "Call torch.nn.functional.scaled_dot_product_attention with the mask as attn_mask, or with is_causal=True "
            "for a causal one; it keeps no matrix of weights.",
     .anchor = "softmax",
     .match = WrittenOut},
}};

}  // namespace

std::span<const Form> AttentionForms() {
  return kAttentionForms;
}

}  // namespace loopscope
