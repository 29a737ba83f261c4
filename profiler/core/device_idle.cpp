// Why a device stood still: the idle intervals between its work, cut at the calls that ended them.
#include <algorithm>
#include <functional>
#include <utility>

#include "profiler/core/device_timeline_build.h"

namespace loopscope {
namespace {

constexpr std::int64_t kReturnSlackNs = 10'000;  // a wait may return this long after the device ran dry

bool Issues(const Event& event) {
  if (event.kind == EventKind::kOp) return true;
  switch (static_cast<RangeCategory>(event.sub)) {
    case RangeCategory::kUser:
    case RangeCategory::kLoader:
    case RangeCategory::kEvaluation:
    case RangeCategory::kWait:
      return false;
    default:
      return true;
  }
}

// Touching ones become one, and those with no more than `gap_ns` between them.
IntervalSet Bridged(std::vector<Interval> intervals, std::int64_t gap_ns) {
  for (Interval& one : intervals) one.end_ns += gap_ns;
  const IntervalSet wide(std::move(intervals));
  std::vector<Interval> bridged(wide.intervals().begin(), wide.intervals().end());
  for (Interval& one : bridged) one.end_ns -= gap_ns;
  return IntervalSet(std::move(bridged));
}

// One thread's share of HostActivity, in lists.
struct Collected {
  std::vector<Interval> communication, copies, syncs, issuing;
  std::vector<HostActivity::Blocking> blocking;
  std::int64_t covered_ns = INT64_MIN;  // by what this thread issued so far

  void Add(const Event& event, HostCallReader& calls) {
    const Interval time{event.start_ns, event.end_ns};
    if (event.is_range(RangeCategory::kCommunication)) communication.push_back(time);
    if (event.is_range(RangeCategory::kCopyToDevice)) copies.push_back(time);
    const bool sync = event.is_range(RangeCategory::kSync);
    if (sync || event.is_range(RangeCategory::kDeviceCall)) {
      const HostCall call = calls.Read(event);
      if (call == HostCall::kCopyToDevice) copies.push_back(time);
      if (call == HostCall::kWait) syncs.push_back(time);
      if (call != HostCall::kIssue) blocking.push_back({time, call == HostCall::kCopyToDevice});
    }
    if (!Issues(event) || event.end_ns <= covered_ns) return;
    // Bridged at once: one interval for each op of a long trace is too many to keep.
    const bool goes_on = covered_ns != INT64_MIN && event.start_ns <= covered_ns + kMaxIssueGapNs;
    covered_ns = event.end_ns;
    goes_on ? void(issuing.back().end_ns = event.end_ns) : issuing.push_back(time);
  }
};

Interval Cut(std::int64_t from, std::int64_t to) {
  return {from, std::max(from, to)};
}

}  // namespace

HostActivity HostActivityOf(const Timeline& timeline) {
  const DeviceCopies copies(timeline.trace());
  Collected all;
  // Without a training thread any thread may be the one that launches.
  std::vector<std::uint32_t> threads(timeline.step_threads().begin(), timeline.step_threads().end());
  for (std::uint32_t t = 0; timeline.step_threads().empty() && t < timeline.trace().threads.size(); ++t) {
    threads.push_back(t);
  }
  for (const std::uint32_t thread : threads) {
    HostCallReader calls(copies);
    all.covered_ns = INT64_MIN;
    for (const Event& event : timeline.trace().threads[thread].events) all.Add(event, calls);
  }
  std::ranges::sort(all.blocking, {}, [](const HostActivity::Blocking& one) { return one.time.start_ns; });
  HostActivity host;
  host.loader = timeline.part(Part::kLoaderWait);
  host.communication = IntervalSet(std::move(all.communication));
  host.copies = IntervalSet(std::move(all.copies));
  host.syncs = IntervalSet(std::move(all.syncs));
  host.issuing = Bridged(std::move(all.issuing), kMaxIssueGapNs);
  host.blocking = std::move(all.blocking);
  return host;
}

// The host was in a blocking call when the device ran dry: with the call still open, or just over. Without the call the
// next launch would have come earlier by its length: no more of the gap is its fault.
void DeviceTimelineBuilder::FindDrain(Gap& gap) const {
  const auto after = std::ranges::upper_bound(host_.blocking, gap.before.start_ns, {},
                                              [](const HostActivity::Blocking& one) { return one.time.start_ns; });
  // The nearest few: calls of several threads may overlap.
  for (auto one = after; one != host_.blocking.begin() && after - one < 4;) {
    --one;
    if (one->time.end_ns + kReturnSlackNs < gap.before.start_ns || one->time.end_ns > gap.before.end_ns) continue;
    gap.drained_by_copy = one->copy;
    gap.drained = Cut(gap.before.start_ns, std::min(gap.before.start_ns + one->time.length(), gap.before.end_ns));
    return;
  }
}

DeviceTimelineBuilder::Gap DeviceTimelineBuilder::GapUntil(Interval idle, std::uint32_t next) const {
  const std::vector<DeviceEvent>& events = trace_.devices[device_.index_].events;
  Gap gap;
  std::int64_t called = idle.end_ns, returned = idle.end_ns;
  if (next < events.size()) {
    const DeviceEvent& event = events[next];
    gap.communication = event.kind == DeviceKind::kCommunication;
    gap.copy = event.copy == CopyKind::kHostToDevice && !(event.flags & kDevicePinned);
    const EventRef launch = device_.launches_[next];
    if (launch.thread != kNone) {
      called = std::clamp(timeline_.event(launch).start_ns, idle.start_ns, idle.end_ns);
      returned = std::clamp(timeline_.event(launch).end_ns + kLaunchLatencyNs, called, idle.end_ns);
      if (timeline_.event(launch).end_ns < idle.start_ns) returned = called;  // queued before the device ran dry
    }
  }
  gap.before = Cut(idle.start_ns, called);
  gap.launching = Cut(called, returned);
  gap.queued = Cut(returned, idle.end_ns);
  if (gap.before.length() > 0) FindDrain(gap);
  return gap;
}

void DeviceTimelineBuilder::ForEachGap(const std::function<void(const Gap&)>& visit) const {
  const std::vector<DeviceEvent>& events = trace_.devices[device_.index_].events;
  if (device_.window_.intervals().empty()) return;
  const Interval span{device_.window_.intervals().front().start_ns, device_.window_.intervals().back().end_ns};
  std::uint32_t next = 0;
  std::int64_t from = span.start_ns;
  const auto add = [&](std::int64_t to) {
    if (to <= from) return;
    while (next < events.size() && (events[next].start_ns < to || events[next].kind == DeviceKind::kWait)) ++next;
    visit(GapUntil({from, to}, next));
  };
  for (const Interval& busy : device_.busy_.intervals()) {
    if (busy.start_ns >= span.end_ns) {
      add(busy.start_ns);  // it ends behind the window, and what ends it tells its cause
      return;
    }
    add(busy.start_ns);
    from = std::max(from, busy.end_ns);
  }
  add(span.end_ns);
}

void DeviceTimelineBuilder::FindCauses() {
  std::vector<Interval> drained_by_sync, drained_by_copy, launching, copying, queued, collective;
  const auto add = [](std::vector<Interval>& all, Interval one) {
    if (one.length() > 0) all.push_back(one);
  };
  ForEachGap([&](const Gap& gap) {
    add(gap.drained_by_copy ? drained_by_copy : drained_by_sync, gap.drained);
    add(gap.copy ? copying : launching, gap.launching);
    add(gap.communication ? collective : queued, gap.queued);
  });
  IntervalSet left = device_.window_.Subtract(device_.busy_);
  const auto take = [&](IdleCause cause, const IntervalSet& all) {
    IntervalSet& idle = device_.idle_[static_cast<std::size_t>(cause)];
    const IntervalSet taken = left.Intersect(all);
    idle = idle.Union(taken);
    left = left.Subtract(taken);
  };
  take(IdleCause::kCopy, IntervalSet(std::move(copying)));
  take(IdleCause::kLaunch, IntervalSet(std::move(launching)));
  take(IdleCause::kCommunication, IntervalSet(std::move(collective)));
  take(IdleCause::kOther, IntervalSet(std::move(queued)));
  take(IdleCause::kLoader, host_.loader);
  take(IdleCause::kHostSync, IntervalSet(std::move(drained_by_sync)).Intersect(host_.issuing));
  take(IdleCause::kCopy, IntervalSet(std::move(drained_by_copy)).Intersect(host_.issuing));
  take(IdleCause::kCommunication, host_.communication);
  take(IdleCause::kCopy, host_.copies);
  take(IdleCause::kHostSync, host_.syncs);
  take(IdleCause::kLaunch, host_.issuing);
  take(IdleCause::kOther, left);
}

}  // namespace loopscope
