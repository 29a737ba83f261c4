#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 10;        // of the step, idle waiting for launches
constexpr double kMaxMedianKernelUs = 20;  // longer kernels leave the host time to run ahead

struct Kernels {
  double per_step = 0, median_us = 0;
};

Kernels Measure(const Timeline& timeline) {
  std::vector<std::int64_t> lengths;
  ForEachWork(timeline, [&](const DeviceTimeline&, std::uint32_t, const DeviceEvent& event) {
    if (event.kind == DeviceKind::kKernel) lengths.push_back(event.duration_ns());
  });
  if (lengths.empty()) return {};
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return {CountPerStep(timeline, static_cast<double>(lengths.size())), static_cast<double>(*middle) / 1e3};
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (const auto why_not = WhyNotCauses(timeline)) return {*why_not};
  const double ms = IdleMs(timeline, IdleCause::kLaunch);
  const Kernels kernels = Measure(timeline);
  if (kernels.per_step == 0) return {Finding::NotApplicable("no kernel was launched in the timed steps")};
  if (SharePct(timeline, ms) < kMinSharePct || kernels.median_us > kMaxMedianKernelUs) return {};
  Finding finding = Costing(timeline, ms,
                            fmt::format("the GPU waits {} per step for the host to launch its small kernels ({})",
                                        MsText(ms), ShareText(timeline, ms)));
  finding.evidence.push_back(
      {fmt::format("{:.0f} kernels per step, of {:.3g} µs in the median", kernels.per_step, kernels.median_us),
       static_cast<std::uint64_t>(kernels.per_step),
       {}});
  const DeviceTimeline& device = timeline.devices().front();
  if (device.queue_depth() >= 0) {
    finding.evidence.push_back({fmt::format("at a launch {:.3g} pieces of work wait in the queue on average; work "
                                            "begins {:.3g} µs after its launch in the median",
                                            device.queue_depth(), device.launch_delay_us()),
                                1,
                                {}});
  }
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kIdleDevices}};

}  // namespace

extern const Analyzer kLaunchBound{.id = "launch-bound",
                                   .question = "Can the host launch work as fast as the GPU does it?",
                                   .run = Run,
                                   .needs = kNeedsOps | kNeedsPasses,
                                   .claims = kClaims};

}  // namespace loopscope
