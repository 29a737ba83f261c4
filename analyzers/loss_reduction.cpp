#include <fmt/format.h>

#include <array>

#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/timeline/communication.h"

namespace loopscope {
namespace {

constexpr std::int64_t kMostNumbers = 16;  // a loss, an accuracy, counts: not shared work
constexpr double kMinPerStep = 0.5;        // rarer ones are log lines
constexpr double kMinSharePct = 1;

struct Reductions {
  CallSites sites;
  bool unsized = false;  // a collective in the detail window has no recorded size
};

// Collectives of few numbers, outside of backward, in the detail window: elsewhere their sizes are not known.
Reductions Collect(const Timeline& timeline) {
  const std::vector<HostCollective> collectives = HostCollectives(timeline);
  const IntervalSet waiting = OnlyCommunicating(timeline);
  Reductions found;
  for (const HostCollective& one : collectives) {
    if (one.in_backward() || one.op.thread != timeline.training_thread()) continue;
    if (!timeline.steps()[one.step].detail) continue;
    found.unsized |= !one.sized();
    if (one.operation.find("reduce") == one.operation.npos && one.operation.find("gather") == one.operation.npos)
      continue;
    if (!one.sized() || one.elements > kMostNumbers) continue;
    const Interval span{timeline.event(one.op).start_ns, GoesOnAt(timeline, one)};
    found.sites.Add(timeline.where(one.op), Ms(waiting.total_ns(span)));
  }
  return found;
}

bool AnyOutsideBackward(const Timeline& timeline) {
  for (const HostCollective& one : HostCollectives(timeline)) {
    if (!one.in_backward() && one.op.thread == timeline.training_thread()) return true;
  }
  return false;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (!AnyOutsideBackward(timeline)) return {Finding::NotApplicable("no collective outside of backward was seen")};
  Reductions found = Collect(timeline);
  if (timeline.detail_steps() == 0 || (found.unsized && found.sites.empty())) {
    const std::string why = timeline.detail_steps() == 0 ? WhyNoDetail(timeline) + ": " : "";
    return {Finding::CannotTell(why + "how many numbers a collective reduces is not known")};
  }
  found.sites.DropRarerThan(kMinPerStep * timeline.detail_steps());
  const double cost_ms = MsPerDetailStep(timeline, found.sites.ms());
  if (found.sites.empty() || SharePct(timeline, cost_ms) < kMinSharePct) return {};
  const double per_step = static_cast<double>(found.sites.count()) / timeline.detail_steps();
  Finding finding = Costing(timeline, cost_ms,
                            fmt::format("numbers are reduced over the ranks {}: {} ({})", TimesPerStep(per_step),
                                        MsText(cost_ms), ShareText(timeline, cost_ms)));
  finding.evidence = found.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{}, the loop waits {} per step for the other ranks",
                       TimesPerStep(static_cast<double>(site.count) / timeline.detail_steps()),
                       MsText(MsPerDetailStep(timeline, site.ms)));
  });
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kCommunication}};

}  // namespace

extern const Analyzer kLossReduction{.id = "loss-reduction",
                                     .question = "Is a loss or a count reduced over the ranks in every step?",
                                     .run = Run,
                                     .needs = kNeedsOps | kNeedsCosts,
                                     .claims = kClaims};

}  // namespace loopscope
