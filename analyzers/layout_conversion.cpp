#include <fmt/format.h>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 1;  // of the step's work, in kernels that change the layout

struct Conversions {
  CallSites sites;
  bool convolution = false;  // any convolution's kernel was seen
};

Conversions Measure(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  std::vector<std::uint8_t> kinds;  // 1 conversion, 2 convolution
  for (const std::string& name : trace.strings) {
    kinds.push_back(kernels::IsLayoutConversion(name) ? 1 : kernels::IsConvolution(name) ? 2 : 0);
  }
  Conversions found;
  ForEachWork(timeline, [&](const DeviceTimeline& device, std::uint32_t i, const DeviceEvent& event) {
    if (event.kind != DeviceKind::kKernel || event.name >= kinds.size()) return;
    found.convolution |= kinds[event.name] != 0;
    if (kinds[event.name] != 1) return;
    const EventRef launch = device.launch(i);
    const bool known = launch.thread != kNone;
    found.sites.Add(known ? timeline.where(launch) : nullptr, Ms(event.duration_ns()),
                    known ? ModuleOf(timeline, launch) : std::string_view());
  });
  return found;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (const auto why_not = WhyNotDevices(timeline)) return {*why_not};
  const Conversions found = Measure(timeline);
  if (!found.convolution) return {Finding::NotApplicable("no convolution ran on the GPU in the timed steps")};
  const double ms = MsPerStep(timeline, found.sites.ms());
  if (SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding = Costing(timeline, ms,
                            fmt::format("tensors change their layout around convolutions: {} per step ({})", MsText(ms),
                                        ShareText(timeline, ms)));
  finding.evidence = found.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{:.3g} kernels per step between NCHW and NHWC, {}",
                       CountPerStep(timeline, static_cast<double>(site.count)), MsText(MsPerStep(timeline, site.ms)));
  });
  return {finding};
}

}  // namespace

extern const Analyzer kLayoutConversion{.id = "layout-conversion",
                                        .question = "Do tensors change their layout around convolutions?",
                                        .run = Run,
                                        .needs = kNeedsOps | kNeedsPasses};

}  // namespace loopscope
