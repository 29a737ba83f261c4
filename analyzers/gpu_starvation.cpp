#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinIdlePct = 10;  // of the step; below this, a GPU is well fed
constexpr double kMinCausePct = 1;  // smaller causes are not named

std::string_view Explained(IdleCause cause) {
  switch (cause) {
    case IdleCause::kLoader:
      return "the training thread waits for its loader";
    case IdleCause::kHostSync:
      return "the host had waited for the GPU and queues work anew";
    case IdleCause::kCopy:
      return "the host waits for copies to the GPU";
    case IdleCause::kLaunch:
      return "the host cannot launch work as fast as the GPU does it";
    case IdleCause::kCommunication:
      return "waiting for other ranks";
    case IdleCause::kOther:
      return "the host does something else, or queued work does not begin";
  }
  return "";
}

struct Share {
  IdleCause cause;
  double ms;
};

std::vector<Share> Ordered(const Timeline& timeline) {
  std::vector<Share> shares;
  for (int cause = 0; cause < kIdleCauses; ++cause) {
    shares.push_back({static_cast<IdleCause>(cause), IdleMs(timeline, static_cast<IdleCause>(cause))});
  }
  std::ranges::stable_sort(shares, std::greater<>(), &Share::ms);
  return shares;
}

// Where the loop asks for its batches: the only cause that can be located without another rule.
std::optional<Where> AskingForBatches(const Timeline& timeline) {
  CallSites sites;
  timeline.ForEachSteady([&](EventRef ref) {
    if (!timeline.event(ref).is_range(RangeCategory::kLoader)) return;
    if (const Where* where = timeline.where(ref)) sites.Add(where);
  });
  return sites.empty() ? std::nullopt : sites.Ordered().front().where;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (const auto why_not = WhyNotCauses(timeline)) return {*why_not};
  const double idle_ms = IdleMs(timeline);
  if (SharePct(timeline, idle_ms) < kMinIdlePct) return {};
  const std::vector<Share> shares = Ordered(timeline);
  Finding finding = Costing(timeline, idle_ms,
                            fmt::format("the GPU is idle for {} per step ({}), most of it because {}", MsText(idle_ms),
                                        ShareText(timeline, idle_ms), Explained(shares.front().cause)));
  for (const Share& share : shares) {
    if (SharePct(timeline, share.ms) < kMinCausePct) continue;
    Evidence evidence{fmt::format("idle {} per step ({}): {}", MsText(share.ms), ShareText(timeline, share.ms),
                                  Explained(share.cause)),
                      timeline.steady().size(), std::nullopt};
    if (share.cause == IdleCause::kLoader) evidence.where = AskingForBatches(timeline);
    finding.evidence.push_back(std::move(evidence));
  }
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kIdleDevices, Standing::kWhole}};

}  // namespace

extern const Analyzer kGpuStarvation{
    .id = "gpu-starvation", .question = "Why is the GPU idle?", .run = Run, .claims = kClaims};

}  // namespace loopscope
