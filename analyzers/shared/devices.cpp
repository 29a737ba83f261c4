#include "analyzers/shared/devices.h"

#include <algorithm>

#include "analyzers/shared/evidence.h"

namespace loopscope {
namespace {

double PerDevice(const Timeline& timeline, double total) {
  return timeline.devices().empty() ? 0 : total / static_cast<double>(timeline.devices().size());
}

std::uint64_t KeyOf(EventRef ref) {
  return std::uint64_t{ref.thread} << 32 | ref.index;
}

}  // namespace

std::optional<Finding> WhyNotDevices(const Timeline& timeline) {
  const DeviceCoverage& coverage = timeline.device_coverage();
  if (coverage.why_not.empty()) return std::nullopt;
  return coverage.used ? Finding::CannotTell(coverage.why_not) : Finding::NotApplicable(coverage.why_not);
}

std::optional<Finding> WhyNotCauses(const Timeline& timeline) {
  if (const auto why_not = WhyNotDevices(timeline)) return why_not;
  const std::string& why = timeline.device_coverage().why_no_causes;
  return why.empty() ? std::nullopt : std::optional(Finding::CannotTell(why));
}

std::optional<Finding> WhyDevicesUnknown(const Timeline& timeline) {
  return OnDevice(timeline) ? WhyNotDevices(timeline) : std::nullopt;
}

bool DevicesKnown(const Timeline& timeline) {
  return timeline.device_coverage().why_not.empty();
}

bool OnDevice(const Timeline& timeline) {
  return timeline.device_coverage().used;
}

double IdleMs(const Timeline& timeline, IdleCause cause) {
  double total = 0;
  for (const DeviceTimeline& device : timeline.devices()) total += Ms(device.times().idle_by(cause));
  return MsPerStep(timeline, PerDevice(timeline, total));
}

double IdleMs(const Timeline& timeline) {
  double total = 0;
  for (int cause = 0; cause < kIdleCauses; ++cause) total += IdleMs(timeline, static_cast<IdleCause>(cause));
  return total;
}

double IdleMs(const Timeline& timeline, IdleCause cause, Interval within) {
  double total = 0;
  for (const DeviceTimeline& device : timeline.devices()) total += Ms(device.idle(cause).total_ns(within));
  return PerDevice(timeline, total);
}

double IdleMs(const Timeline& timeline, Interval within) {
  double total = 0;
  for (int cause = 0; cause < kIdleCauses; ++cause) total += IdleMs(timeline, static_cast<IdleCause>(cause), within);
  return total;
}

std::vector<double> DeviceMsByStep(const Timeline& timeline) {
  std::vector<double> by_step;
  for (const Step& step : timeline.steps()) by_step.push_back(IdleMs(timeline, step.time));
  ForEachWork(timeline, [&](const DeviceTimeline& device, std::uint32_t i, const DeviceEvent& event) {
    const EventRef launch = device.launch(i);
    const int step = launch.thread == kNone ? -1 : timeline.step_at(timeline.event(launch).start_ns);
    if (step >= 0) by_step[static_cast<std::size_t>(step)] += PerDevice(timeline, Ms(event.duration_ns()));
  });
  return by_step;
}

OpCost::OpCost(const Timeline& timeline) : timeline_(timeline), devices_(DevicesKnown(timeline)) {
  if (!devices_) return;
  ForEachWork(timeline, [&](const DeviceTimeline& device, std::uint32_t i, const DeviceEvent& event) {
    const EventRef launch = device.launch(i);
    if (launch.thread != kNone) work_ns_.push_back({KeyOf(launch), event.duration_ns()});
  });
  std::ranges::sort(work_ns_);
}

double OpCost::Ms(EventRef ref) const {
  const Event& op = timeline_.event(ref);
  if (!devices_) return loopscope::Ms(op.duration_ns());
  std::int64_t work_ns = 0;
  auto one = std::ranges::lower_bound(work_ns_, std::pair(KeyOf(ref), INT64_MIN));
  for (; one != work_ns_.end() && (one->first >> 32) == ref.thread; ++one) {
    const auto index = static_cast<std::uint32_t>(one->first);
    if (timeline_.event({ref.thread, index}).start_ns >= op.end_ns) break;
    work_ns += one->second;
  }
  return loopscope::Ms(work_ns) + IdleMs(timeline_, Interval{op.start_ns, op.end_ns});
}

namespace {

// The next call of the device's runtime on the same thread waits for it.
bool WaitedFor(const Timeline& timeline, EventRef call) {
  const std::vector<Event>& events = timeline.trace().threads[call.thread].events;
  const std::int64_t end_ns = events[call.index].end_ns;
  for (std::uint32_t i = call.index + 1; i < events.size() && events[i].start_ns <= end_ns + kMaxIssueGapNs; ++i) {
    if (events[i].is_range(RangeCategory::kSync)) return true;
    if (events[i].is_range(RangeCategory::kDeviceCall)) return false;
  }
  return false;
}

double ExposedMs(const DeviceTimeline& device, const DeviceEvent& copy) {
  const Interval time{copy.start_ns, copy.end_ns};
  const std::int64_t beside = device.compute().total_ns(time) + device.communication().total_ns(time);
  return Ms(std::max<std::int64_t>(copy.duration_ns() - beside, 0));
}

}  // namespace

std::vector<CopyToDevice> BatchCopies(const Timeline& timeline) {
  std::vector<CopyToDevice> copies;
  ForEachWork(timeline, [&](const DeviceTimeline& device, std::uint32_t i, const DeviceEvent& event) {
    const EventRef call = device.launch(i);
    if (event.copy != CopyKind::kHostToDevice || event.bytes < kBatchBytes || call.thread == kNone) return;
    const Where* where = timeline.where(call);
    copies.push_back({&event, call, WaitedFor(timeline, call), ExposedMs(device, event), 0,
                      where ? std::optional(*where) : std::nullopt});
  });
  const auto called = [&](const CopyToDevice& copy) { return timeline.event(copy.call).start_ns; };
  std::ranges::stable_sort(copies, {}, called);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const std::int64_t until_ns = i + 1 < copies.size() ? called(copies[i + 1]) : INT64_MAX;
    copies[i].idle_ms = IdleMs(timeline, IdleCause::kCopy, {called(copies[i]), until_ns});
  }
  return copies;
}

}  // namespace loopscope
