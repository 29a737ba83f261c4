#include <fmt/format.h>

#include <array>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinCopiesPerStep = 0.5;
constexpr double kMinSharePct = 1;  // of the step's work, exposed

struct Pageable {
  CallSites sites;
  double bytes = 0;
  std::uint64_t unknown = 0;  // copies whose kind of host memory was not recorded
};

Pageable Collect(const Timeline& timeline) {
  Pageable found;
  for (const CopyToDevice& copy : BatchCopies(timeline)) {
    if (copy.event->flags & kDevicePageable) {
      found.sites.Add(copy.where ? &*copy.where : nullptr, copy.exposed_ms + copy.idle_ms);
      found.bytes += static_cast<double>(copy.event->bytes);
    } else if (!(copy.event->flags & kDevicePinned)) {
      ++found.unknown;
    }
  }
  found.sites.FoldUnknown();
  return found;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (const auto why_not = WhyNotCauses(timeline)) return {*why_not};
  const Pageable found = Collect(timeline);
  const double copies = CountPerStep(timeline, static_cast<double>(found.sites.count()));
  if (copies < kMinCopiesPerStep) {
    if (CountPerStep(timeline, static_cast<double>(found.unknown)) < kMinCopiesPerStep) return {};
    return {Finding::CannotTell("the trace does not record whether the copies to the GPU come from pinned memory")};
  }
  const double ms = MsPerStep(timeline, found.sites.ms());
  if (SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding = Costing(timeline, ms,
                            fmt::format("batches go to the GPU from pageable memory: {} exposed per step ({})",
                                        MsText(ms), ShareText(timeline, ms)));
  const double mb = found.bytes / 1e6 / static_cast<double>(found.sites.count());
  finding.evidence = found.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{:.3g} copies per step of {:.3g} MB on average, {} exposed",
                       CountPerStep(timeline, static_cast<double>(site.count)), mb,
                       MsText(MsPerStep(timeline, site.ms)));
  });
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kIdleDevices}, Claim{Time::kCopyToDevice}};

}  // namespace

extern const Analyzer kPageableCopy{.id = "pageable-copy",
                                    .question = "Do batches go to the GPU from memory that is not pinned?",
                                    .run = Run,
                                    .claims = kClaims};

}  // namespace loopscope
