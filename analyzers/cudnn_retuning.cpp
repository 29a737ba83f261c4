#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/shared/convolutions.h"
#include "analyzers/shared/devices.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinStepsPct = 10;     // of the steady steps, with a shape not seen before
constexpr double kMinSharePct = 1;      // of the step's work
constexpr std::uint64_t kMinKnown = 3;  // convolutions of known shapes, to estimate the cost without timing

double MedianKnownMs(const Convolutions& found) {
  std::vector<double> known;
  for (const Convolution& call : found.calls) {
    if (!call.new_shape) known.push_back(call.ms);
  }
  if (known.size() < kMinKnown) return 0;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  return *middle;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (const auto why_not = WhyNotDevices(timeline)) return {*why_not};
  const std::string_view flag = FactOf(timeline.trace(), "cudnn.benchmark");
  if (flag.empty()) return {Finding::CannotTell("the trace does not record whether cuDNN times its algorithms")};
  if (flag == "off") return {};
  const Convolutions found = ConvolutionsOf(timeline);
  if (!found.calls.empty() && !found.shapes_known) {
    return {
        Finding::CannotTell("the trace holds no shapes of convolutions, so whether new ones keep coming is unknown")};
  }
  const double steps_pct =
      100 * static_cast<double>(found.steps_with_new) / static_cast<double>(timeline.steady().size());
  const double usual_ms = MedianKnownMs(found);
  CallSites sites;
  for (const Convolution& call : found.calls) {
    if (call.new_shape) sites.Add(timeline.where(call.op), std::max(0.0, call.ms - usual_ms));
  }
  const double ms = MsPerStep(timeline, sites.ms());
  if (steps_pct < kMinStepsPct || SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding =
      Costing(timeline, ms,
              fmt::format("cuDNN times its algorithms anew in {} of {} steps, since convolutions of new "
                          "shapes keep coming: {} per step ({})",
                          found.steps_with_new, timeline.steady().size(), MsText(ms), ShareText(timeline, ms)));
  finding.treatment = "off";
  finding.evidence = sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{} of a new shape, {} each beyond a usual one", Counted(site.count, "convolution"),
                       MsText(site.ms / static_cast<double>(site.count)));
  });
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kIdleDevices}};

}  // namespace

extern const Analyzer kCudnnRetuning{.id = "cudnn-retuning",
                                     .question = "Does cuDNN time its algorithms again and again for new shapes?",
                                     .run = Run,
                                     .needs = kNeedsOps | kNeedsPasses,
                                     .claims = kClaims};

}  // namespace loopscope
