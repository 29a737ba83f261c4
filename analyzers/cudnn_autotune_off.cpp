#include <fmt/format.h>

#include <algorithm>

#include "analyzers/shared/convolutions.h"
#include "analyzers/shared/devices.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 10;         // of the step's work, in convolutions
constexpr std::size_t kMostShapesEach = 3;  // different shapes of one convolution: each is timed once

std::vector<Finding> Run(const Timeline& timeline) {
  if (const auto why_not = WhyNotDevices(timeline)) return {*why_not};
  const std::string_view flag = FactOf(timeline.trace(), "cudnn.benchmark");
  if (flag.empty()) return {Finding::CannotTell("the trace does not record whether cuDNN may time its algorithms")};
  if (flag == "on") return {};
  const Convolutions found = ConvolutionsOf(timeline);
  const double ms = MsPerStep(timeline, found.ms());
  if (SharePct(timeline, ms) < kMinSharePct) return {};
  if (!found.shapes_known) {
    return {Finding::CannotTell("the trace holds no shapes of convolutions, so whether they stay the same is unknown")};
  }
  // Shapes that keep changing would be timed again and again.
  if (found.shapes > kMostShapesEach * found.shapes_of_one_step || found.steps_with_new > 1) return {};
  Finding finding =
      CostingAtMost(timeline, ms,
                    fmt::format("convolutions take {} per step ({}), always of the same shapes, and cuDNN may "
                                "not time which of its algorithms is fastest for them",
                                MsText(ms), ShareText(timeline, ms)));
  finding.severity = std::min(finding.severity, Severity::kMedium);  // an upper bound: the algorithm may be the best
  finding.evidence = found.Sites(timeline).Describe([&](const CallSites::Site& site) {
    return fmt::format("{:.3g} convolutions per step, {}", CountPerStep(timeline, static_cast<double>(site.count)),
                       MsText(MsPerStep(timeline, site.ms)));
  });
  return {finding};
}

}  // namespace

extern const Analyzer kCudnnAutotuneOff{
    .id = "cudnn-autotune-off",
    .question = "May cuDNN choose the fastest algorithm for convolutions of fixed shapes?",
    .run = Run,
    .needs = kNeedsOps | kNeedsPasses};

}  // namespace loopscope
