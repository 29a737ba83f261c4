#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/timeline/communication.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 1;

// Time in which a CPU backend communicated and no device computed: device tensors go through host memory.
double ExposedMs(const Timeline& timeline) {
  std::vector<Interval> communicating;
  ForEachBackendRange(timeline, [&](const Event& event) { communicating.push_back({event.start_ns, event.end_ns}); });
  IntervalSet computing;
  for (const DeviceTimeline& device : timeline.devices()) computing = computing.Union(device.compute());
  const IntervalSet exposed = IntervalSet(std::move(communicating)).Subtract(computing);
  double total_ms = 0;
  for (const std::uint32_t step : timeline.steady()) total_ms += Ms(exposed.total_ns(timeline.steps()[step].time));
  return MsPerStep(timeline, total_ms);
}

std::uint64_t BackendRanges(const Timeline& timeline) {
  std::uint64_t count = 0;
  ForEachBackendRange(timeline, [&](const Event&) { ++count; });
  return count;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (!OnDevice(timeline)) return {Finding::NotApplicable("the program used no GPU")};
  if (BackendRanges(timeline) == 0) return {Finding::NotApplicable("no collective of a CPU backend was seen")};
  if (const auto why_not = WhyNotDevices(timeline)) return {*why_not};
  const std::vector<HostCollective> collectives = HostCollectives(timeline);
  const auto on_device = [](const HostCollective& one) { return one.sized() && !one.device.empty(); };
  if (std::ranges::none_of(collectives, &HostCollective::sized)) {
    return {Finding::CannotTell(WhyNoDetail(timeline) + ": where the exchanged tensors live is not known")};
  }
  const auto first = std::ranges::find_if(collectives, on_device);
  const double cost_ms = ExposedMs(timeline);
  if (first == collectives.end() || SharePct(timeline, cost_ms) < kMinSharePct) return {};
  double bytes = 0;
  for (const HostCollective& one : collectives) bytes += on_device(one) ? static_cast<double>(one.bytes) : 0;
  Finding finding = Costing(timeline, cost_ms,
                            fmt::format("tensors of {} are exchanged through the CPU: {} per step ({})", first->device,
                                        MsText(cost_ms), ShareText(timeline, cost_ms)));
  std::optional<Where> place;
  if (const Where* where = timeline.where(first->op)) place = *where;
  finding.evidence.push_back(
      {fmt::format("{:.3g} MB of device tensors per step go through gloo", bytes / timeline.detail_steps() / 1e6),
       static_cast<std::uint64_t>(std::ranges::count_if(collectives, on_device)), place});
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kIdleDevices}, Claim{Time::kCommunication}};

}  // namespace

extern const Analyzer kSlowBackend{
    .id = "slow-backend", .question = "Are tensors of GPUs exchanged through the CPU?", .run = Run, .claims = kClaims};

}  // namespace loopscope
