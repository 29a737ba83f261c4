// Norms that are written out, or that have a cheaper operator.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/forms/form.h"

namespace loopscope {
namespace {

// Whether `reduced` has one number for each row of the last dimension.
bool KeepsRows(Sizes whole, Sizes reduced) {
  if (whole.size() < 2 || whole.size() != reduced.size() || reduced.back() != 1 || whole.back() == 1) return false;
  return SameSizes(whole.first(whole.size() - 1), reduced.first(reduced.size() - 1));
}

// Whether `reduced` has one number for each channel, the second dimension.
bool KeepsChannels(Sizes whole, Sizes reduced) {
  if (whole.size() < 2 || whole[0] == 1) return false;
  if (whole.size() == 2 && reduced.size() == 1) return reduced[0] == whole[1];
  if (reduced.size() != whole.size()) return false;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i] != (i == 1 ? whole[1] : 1)) return false;
  }
  return true;
}

// At the difference of x and a mean of it, which is then divided by a deviation. Mean and deviation keep what `keeps`
// says.
std::optional<Match> Norm(const StepCalls& calls, std::uint32_t at, bool (*keeps)(Sizes whole, Sizes reduced)) {
  constexpr std::string_view kDeviation = "std var sqrt rsqrt add mean pow square mul clamp";
  const auto x = calls[at].sizes(0);
  if (!keeps(x, calls[at].sizes(1))) return std::nullopt;
  const auto mean =
      std::ranges::find_if(calls[at].from, [&](std::uint32_t one) { return calls[one].name == "aten::mean"; });
  if (mean == calls[at].from.end()) return std::nullopt;
  // Weights may come between.
  Calls down = Down(calls, at, "mul", "div mul");
  while (!down.empty() && !keeps(x, calls[down.back()].sizes(1))) {
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
    if (SameSizes(sizes, x) || keeps(x, sizes)) match.calls.push_back(one);
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

std::optional<Match> LayerNorm(const StepCalls& calls, std::uint32_t at) {
  return Norm(calls, at, KeepsRows);
}

std::optional<Match> BatchNorm(const StepCalls& calls, std::uint32_t at) {
  return Norm(calls, at, KeepsChannels);
}

// input;weight;bias;running_mean;running_var;use_input_stats;momentum;eps;cudnn
std::optional<Match> InstanceNorm(const StepCalls& calls, std::uint32_t at) {
  const Call& call = calls[at];
  const bool of_input = call.inputs.size() > 5 && call.inputs[5].scalar == "true" && call.sizes(3).empty();
  if (!of_input || call.sizes(0).size() < 3) return std::nullopt;
  return Match{call.text, {at}};
}

constexpr std::array<Form, 3> kNormForms{{
    {.id = "layer-norm-written-out",
     .slow = "a layer norm is written out, one operator at a time",
     .better = "layer_norm",
     .fix = "Use torch.nn.LayerNorm or torch.nn.functional.layer_norm. It adds eps to the variance; a form that adds "
            "it to the deviation, or divides by n - 1, differs in the last digits.",
     .anchor = "sub",
     .match = LayerNorm},
    {.id = "batch-norm-written-out",
     .slow = "a batch norm is written out, one operator at a time",
     .better = "batch_norm",
     .fix = "Use torch.nn.BatchNorm1d or BatchNorm2d, or torch.nn.functional.batch_norm(x, None, None, training=True).",
     .anchor = "sub",
     .match = BatchNorm},
    {.id = "instance-norm",
     .slow = "an instance norm runs as a batch norm of many channels",
     .better = "group_norm with a group for each channel",
     .fix = "Use torch.nn.GroupNorm(channels, channels), with affine=False where the instance norm has no weights.",
     .anchor = "instance_norm",
     .match = InstanceNorm},
}};

}  // namespace

std::span<const Form> NormForms() {
  return kNormForms;
}

}  // namespace loopscope
