#include <fmt/format.h>

#include <array>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinCopiesPerStep = 0.5;
constexpr double kMinSharePct = 1;  // device idle time, of the step's work

std::vector<Finding> Run(const Timeline& timeline) {
  if (const auto why_not = WhyNotCauses(timeline)) return {*why_not};
  CallSites sites;
  for (const CopyToDevice& copy : BatchCopies(timeline)) {
    if (!(copy.event->flags & kDevicePinned) || !copy.waited_for) continue;
    sites.Add(copy.where ? &*copy.where : nullptr, copy.idle_ms);
  }
  sites.FoldUnknown();
  const double ms = MsPerStep(timeline, sites.ms());
  const double copies = CountPerStep(timeline, static_cast<double>(sites.count()));
  if (copies < kMinCopiesPerStep || SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding =
      Costing(timeline, ms,
              fmt::format("the host waits for copies from pinned memory; the GPU then idles for {} per step ({})",
                          MsText(ms), ShareText(timeline, ms)));
  finding.evidence = sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{:.3g} blocking copies per step, GPU idle {} because of them",
                       CountPerStep(timeline, static_cast<double>(site.count)), MsText(MsPerStep(timeline, site.ms)));
  });
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kIdleDevices}, Claim{Time::kCopyToDevice}};

}  // namespace

extern const Analyzer kBlockingCopy{.id = "blocking-copy",
                                    .question = "Does the host wait for copies that need no waiting?",
                                    .run = Run,
                                    .claims = kClaims};

}  // namespace loopscope
