#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/shared/anomaly_cost.h"
#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinPaddedPct = 20;  // of the tokens
constexpr double kMinSharePct = 1;    // of the step's work

template <std::size_t N>
bool IsOneOf(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

bool TellsPadding(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNames{"aten::embedding", "aten::masked_fill", "aten::masked_fill_",
                                                          "aten::scaled_dot_product_attention"};
  return IsOneOf(name, kNames);
}

bool ReadsSequences(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames{"aten::embedding", "aten::scaled_dot_product_attention",
                                                          "aten::lstm", "aten::gru", "aten::rnn_tanh"};
  return IsOneOf(name, kNames);
}

// Recurrent layers skip the padding of packed sequences.
bool Packs(std::string_view name) {
  return name == "aten::_pack_padded_sequence";
}

struct Tokens {
  std::uint64_t padded = 0, all = 0;
  CallSites sites;
  bool packed = false, sequences = false;

  double pct() const { return all == 0 ? 0 : 100 * static_cast<double>(padded) / static_cast<double>(all); }
};

// Counts forward passes only: autograd's nodes get the same inputs again.
Tokens Count(const Timeline& timeline) {
  const NameSet telling(timeline.trace(), TellsPadding), reading(timeline.trace(), ReadsSequences),
      packing(timeline.trace(), Packs), nodes(timeline.trace(), ops::IsBackwardNode);
  Tokens tokens;
  timeline.ForEachDetailed([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    tokens.packed |= packing.Has(event);
    tokens.sequences |= reading.Has(event);
    if (!telling.Has(event)) return;
    const auto told = ParsePadding(timeline.inputs(ref));
    if (!told || HasAncestor(timeline, ref, [&](const Event& up) { return nodes.Has(up); })) return;
    tokens.padded += told->padded;
    tokens.all += told->tokens;
    tokens.sites.Add(timeline.where(ref), static_cast<double>(told->padded), ModuleOf(timeline, ref));
  });
  return tokens;
}

std::vector<Finding> WhyNothingTold(const Timeline& timeline, const Tokens& tokens) {
  if (!tokens.sequences) return {Finding::NotApplicable("no operator that reads sequences was seen")};
  return {Finding::CannotTell(
      fmt::format("no mask and no padding index in this machine's memory shows which tokens are padding{}",
                  OnDevice(timeline) ? " (those in a GPU's memory are not read: that would make it wait)" : ""))};
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) {
    return {Finding::CannotTell(WhyNoDetail(timeline) + ", so which tokens are padding is not known")};
  }
  const Tokens tokens = Count(timeline);
  if (tokens.packed) return {};
  if (tokens.all == 0) return WhyNothingTold(timeline, tokens);
  const double passes_ms =
      std::min(timeline.part_ms(Part::kForward) + timeline.part_ms(Part::kBackward), WorkMs(timeline));
  const double ms = passes_ms * tokens.pct() / 100;
  if (tokens.pct() < kMinPaddedPct || SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding = Costing(timeline, ms,
                            fmt::format("{:.0f} % of the tokens are padding: up to {} per step of work on nothing",
                                        tokens.pct(), MsText(ms)));
  finding.evidence = tokens.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{:.0f} padded tokens per call", site.ms / static_cast<double>(site.count));
  });
  return {finding};
}

}  // namespace

extern const Analyzer kPaddingWaste{.id = "padding-waste",
                                    .question = "Does the loop compute on padding?",
                                    .run = Run,
                                    .needs = kNeedsOps | kNeedsPasses};

}  // namespace loopscope
