#include <fmt/format.h>

#include <array>
#include <set>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/inputs.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 2;    // of the step's work, saved by narrower copies
constexpr double kSavedShare = 0.75;  // of a copy, with one byte instead of four
constexpr double kMinCopiesPerStep = 0.5;

// Element counts of batch-sized 8-bit tensors that host operators read: candidates for widening.
std::set<std::int64_t> NarrowSizes(const Timeline& timeline) {
  std::set<std::int64_t> sizes;
  timeline.ForEachDetailed([&](EventRef ref) {
    for (const TensorText& input : ParseInputs(timeline.inputs(ref))) {
      if (!input.is_tensor || !input.device.empty() || (input.dtype != "u8" && input.dtype != "i8")) continue;
      if (static_cast<std::uint64_t>(input.elements()) * 4 >= kBatchBytes) sizes.insert(input.elements());
    }
  });
  return sizes;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (const auto why_not = WhyNotCauses(timeline)) return {*why_not};
  const std::vector<CopyToDevice> copies = BatchCopies(timeline);
  if (copies.empty()) return {};
  if (timeline.detail_steps() == 0) return {Finding::CannotTell(WhyNoDetail(timeline))};
  const std::set<std::int64_t> narrow = NarrowSizes(timeline);
  CallSites sites;
  double bytes = 0;
  for (const CopyToDevice& copy : copies) {
    // float32, converted from as many 8-bit numbers on the host.
    if (copy.event->bytes % 4 != 0 || !narrow.contains(static_cast<std::int64_t>(copy.event->bytes / 4))) continue;
    sites.Add(copy.where ? &*copy.where : nullptr, kSavedShare * (copy.exposed_ms + copy.idle_ms));
    bytes += static_cast<double>(copy.event->bytes);
  }
  sites.FoldUnknown();
  const double ms = MsPerStep(timeline, sites.ms());
  const auto count = static_cast<double>(sites.count());
  if (CountPerStep(timeline, count) < kMinCopiesPerStep || SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding =
      CostingAtMost(timeline, ms,
                    fmt::format("batches of 8-bit data are widened to float32 before they go to the GPU: {} per "
                                "step ({})",
                                MsText(ms), ShareText(timeline, ms)));
  finding.evidence = sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{:.3g} copies per step of {:.3g} MB on average, a quarter of it would do",
                       CountPerStep(timeline, static_cast<double>(site.count)), bytes / 1e6 / count);
  });
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kCopyToDevice}};

}  // namespace

extern const Analyzer kWideInput{.id = "wide-input",
                                 .question = "Do batches of 8-bit data go to the GPU as 32-bit numbers?",
                                 .run = Run,
                                 .claims = kClaims};

}  // namespace loopscope
