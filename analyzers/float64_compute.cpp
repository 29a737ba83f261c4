#include <fmt/format.h>

#include <algorithm>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "analyzers/shared/precision.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/inputs.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 10;  // of the detailed steps
// Share of the layers' time saved on a CPU: vector registers and cache lines hold twice as many float32 values.
constexpr double kGain = 0.5;

bool IsFloat64(const Timeline& timeline, EventRef ref) {
  for (const TensorText& input : ParseInputs(timeline.inputs(ref))) {
    if (input.is_tensor && input.defined) return input.dtype == "f64";
  }
  return false;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) return {Finding::CannotTell(WhyNoDetail(timeline))};
  if (const auto why_not = WhyDevicesUnknown(timeline)) return {*why_not};
  const LayerTime layers = MeasureLayers(timeline, [&](EventRef ref) { return IsFloat64(timeline, ref); });
  if (100 * layers.share < kMinSharePct) return {};
  const double ms = layers.share * timeline.mean_step_ms();
  Finding finding = CostingAtMost(timeline, ms,
                                  fmt::format("float64 convolutions and matrix products take {:.0f} % of the step; "
                                              "float32 needs half of it or less",
                                              100 * layers.share));
  if (!OnDevice(timeline)) finding.expected_gain_ms = kGain * ms;
  finding.evidence = layers.Describe("float64");
  return {std::move(finding)};
}

}  // namespace

extern const Analyzer kFloat64Compute{
    .id = "float64-compute", .question = "Does the loop compute in float64?", .run = Run, .needs = kNeedsOps};

}  // namespace loopscope
