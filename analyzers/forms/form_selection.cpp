// Sorting where less would do.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/forms/form.h"

namespace loopscope {
namespace {

constexpr std::uint32_t kMostBetween = 6;
constexpr double kMostKept = 0.25;  // of what is sorted

// "f32[64,1000];-1;true|8|sort". The first or the last of what is sorted: input;dim;descending
std::optional<Match> FewOfSorted(const StepCalls& calls, std::uint32_t at) {
  const Call& call = calls[at];
  const auto input = call.sizes(0);
  const auto dim = call.number(1);
  if (input.empty() || !dim) return std::nullopt;
  const auto along = static_cast<std::int64_t>(*dim < 0 ? *dim + static_cast<double>(input.size()) : *dim);
  if (along < 0 || along >= static_cast<std::int64_t>(input.size())) return std::nullopt;
  const double length = static_cast<double>(input[static_cast<std::size_t>(along)]);
  // Something reads all of it.
  if (!std::ranges::all_of(call.to, [&](std::uint32_t one) { return IsOneOf(calls[one].name, "slice select"); })) {
    return std::nullopt;
  }
  for (std::uint32_t i = at + 1; i < std::min<std::size_t>(at + kMostBetween, calls.all().size()); ++i) {
    // input;dim;start;end;step
    const Call& slice = calls[i];
    if (!IsOneOf(slice.name, "slice select") || slice.step != call.step || !SameSizes(slice.sizes(0), input)) continue;
    const auto dims = static_cast<std::int64_t>(input.size());
    const auto of = static_cast<std::int64_t>(slice.number(1).value_or(static_cast<double>(dims)));
    if ((of < 0 ? of + dims : of) != along) continue;
    double start = slice.number(2).value_or(0), end = std::min(slice.number(3).value_or(length), length);
    if (slice.name == "aten::select") {  // input;dim;index
      start = start < 0 ? start + length : start;
      end = start + 1;
    }
    const double kept = start < 0 ? -start : end - start;
    if ((start > 0 && end < length) || kept < 1 || kept > kMostKept * length) continue;
    return Match{fmt::format("{}|{}|{}", call.text, kept, call.name), {at}};
  }
  return std::nullopt;
}

std::optional<Match> Quantile(const StepCalls& calls, std::uint32_t at) {
  return Match{calls[at].text, {at}};
}

constexpr std::array<Form, 2> kSelectionForms{{
    {.id = "sort-for-few",
     .slow = "everything is sorted and few of it are used",
     .better = "topk",
     .fix = "Call torch.topk(x, k, dim, largest=…).",
     .anchor = "sort argsort",
     .match = FewOfSorted},
    {.id = "quantile-by-sort",
     .slow = "a quantile sorts everything",
     .better = "kthvalue",
     .fix = "Call x.kthvalue(int(q * n) + 1, dim): the value at that rank, without interpolation.",
     .anchor = "quantile nanquantile",
     .match = Quantile},
}};

}  // namespace

std::span<const Form> SelectionForms() {
  return kSelectionForms;
}

}  // namespace loopscope
