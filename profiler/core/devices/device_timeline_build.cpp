#include "profiler/core/devices/device_timeline_build.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace loopscope {
namespace {

constexpr std::int64_t kReturnSlackNs = 10'000;  // a wait may return this long after the device ran dry

bool IsWork(const DeviceEvent& event) {
  return event.kind != DeviceKind::kWait;
}

std::vector<Interval> WorkOf(const Device& device, bool (*accepts)(DeviceKind)) {
  std::vector<Interval> work;
  work.reserve(device.events.size());
  for (const DeviceEvent& event : device.events) {
    if (accepts(event.kind)) work.push_back({event.start_ns, event.end_ns});
  }
  return work;
}

Interval Cut(std::int64_t from, std::int64_t to) {
  return {from, std::max(from, to)};
}

}  // namespace

DeviceTimelineBuilder::DeviceTimelineBuilder(const HostView& view, const DeviceLinks& links, const HostActivity& host)
    : view_(view), trace_(view.trace), links_(links), host_(host) {}

DeviceTimeline DeviceTimelineBuilder::Build(std::uint32_t device) {
  device_.index_ = device;
  FindWork();
  FindWindow();
  LinkLaunches();
  MeasureQueue();
  FindCauses();
  return std::move(device_);
}

void DeviceTimelineBuilder::FindWork() {
  const Device& device = trace_.devices[device_.index_];
  device_.compute_ = IntervalSet(
      WorkOf(device, [](DeviceKind kind) { return kind == DeviceKind::kKernel || kind == DeviceKind::kGraph; }));
  device_.communication_ =
      IntervalSet(WorkOf(device, [](DeviceKind kind) { return kind == DeviceKind::kCommunication; }));
  device_.memory_ = IntervalSet(
      WorkOf(device, [](DeviceKind kind) { return kind == DeviceKind::kCopy || kind == DeviceKind::kMemset; }));
  device_.overlap_ = device_.communication_.Intersect(device_.compute_);
  device_.busy_ = device_.compute_.Union(device_.communication_).Union(device_.memory_);
}

void DeviceTimelineBuilder::FindWindow() {
  std::vector<Interval> steps(view_.steady.begin(), view_.steady.end());
  const auto busy = device_.busy_.intervals();
  if (steps.empty() && !busy.empty()) steps.push_back({busy.front().start_ns, busy.back().end_ns});
  device_.window_ = IntervalSet(std::move(steps));
}

void DeviceTimelineBuilder::LinkLaunches() {
  const std::vector<DeviceEvent>& events = trace_.devices[device_.index_].events;
  device_.launches_.reserve(events.size());
  for (const DeviceEvent& event : events) device_.launches_.push_back(links_.Call(event.correlation));
}

void DeviceTimelineBuilder::MeasureQueue() {
  std::vector<std::int64_t> launched, begun, delays;
  for (std::vector<std::int64_t>* one : {&launched, &begun, &delays}) one->reserve(device_.launches_.size());
  for (const Interval& window : device_.window_.intervals()) {
    device_.ForEach(trace_, window, [&](std::uint32_t i) {
      const DeviceEvent& event = trace_.devices[device_.index_].events[i];
      if (!IsWork(event) || device_.launches_[i].thread == kNone) return;
      launched.push_back(CallOf(device_.launches_[i]).start_ns);
      begun.push_back(event.start_ns);
      delays.push_back(std::max<std::int64_t>(begun.back() - launched.back(), 0));
    });
  }
  if (delays.empty()) return;
  const auto middle = delays.begin() + static_cast<std::ptrdiff_t>(delays.size() / 2);
  std::nth_element(delays.begin(), middle, delays.end());
  device_.delay_us_ = static_cast<double>(*middle) / 1e3;
  std::ranges::sort(launched);
  std::ranges::sort(begun);
  double waiting = 0;
  std::size_t started = 0;
  for (std::size_t i = 0; i < launched.size(); ++i) {
    while (started < begun.size() && begun[started] <= launched[i]) ++started;
    waiting += i > started ? static_cast<double>(i - started) : 0;
  }
  device_.queue_depth_ = waiting / static_cast<double>(launched.size());
}

// The host was in a blocking call when the device ran dry, or had just left one. Without the call the next launch would
// have come earlier by its length, so at most that much of the gap is attributed to it.
void DeviceTimelineBuilder::FindDrain(Gap& gap) const {
  const auto after = std::ranges::upper_bound(host_.blocking, gap.before.start_ns, {},
                                              [](const HostActivity::Blocking& one) { return one.time.start_ns; });
  // Only the nearest few: calls of several threads may overlap.
  for (auto one = after; one != host_.blocking.begin() && after - one < 4;) {
    --one;
    if (one->time.end_ns + kReturnSlackNs < gap.before.start_ns || one->time.end_ns > gap.before.end_ns) continue;
    gap.drained_by_copy = one->copy;
    gap.waited_ns = one->time.length();
    gap.drained = Cut(gap.before.start_ns, std::min(gap.before.start_ns + one->time.length(), gap.before.end_ns));
    return;
  }
}

// A host that waits loses its lead over the device. Its next launches find an empty queue, so the device is also idle
// between them; it would not be if they had come earlier by the length of the wait.
void DeviceTimelineBuilder::ChargeTo(LostLead& lead, Gap& gap) {
  if (gap.drained.length() > 0) {
    lead = {gap.waited_ns - gap.drained.length(), gap.drained_by_copy};
    return;
  }
  if (lead.left_ns <= 0 || gap.copy || gap.communication) return;
  const Interval whole = Cut(gap.before.start_ns, gap.launching.end_ns);
  gap.drained = Cut(whole.start_ns, whole.start_ns + std::min(whole.length(), lead.left_ns));
  gap.drained_by_copy = lead.by_copy;
  gap.launching = Cut(std::max(gap.launching.start_ns, gap.drained.end_ns), gap.launching.end_ns);
  lead.left_ns -= gap.drained.length();
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
      called = std::clamp(CallOf(launch).start_ns, idle.start_ns, idle.end_ns);
      returned = std::clamp(CallOf(launch).end_ns + kLaunchLatencyNs, called, idle.end_ns);
      if (CallOf(launch).end_ns < idle.start_ns) returned = called;  // queued before the device ran dry
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
      add(busy.start_ns);  // it ends after the window, and the work that ends it decides its cause
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
  LostLead lead;
  ForEachGap([&](Gap gap) {
    ChargeTo(lead, gap);
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

std::vector<DeviceTimeline> BuildDeviceTimelines(const HostView& view) {
  std::vector<DeviceTimeline> devices;
  const Trace& trace = view.trace;
  if (trace.devices.empty()) return devices;
  const bool known = view.training_thread < trace.threads.size();
  const DeviceLinks links(trace, known ? trace.threads[view.training_thread].pid : 0);
  const HostActivity host = HostActivityOf(view);
  for (std::uint32_t i = 0; i < trace.devices.size(); ++i) {
    if (!std::ranges::any_of(trace.devices[i].events, IsWork)) continue;
    devices.push_back(DeviceTimelineBuilder(view, links, host).Build(i));
  }
  return devices;
}

}  // namespace loopscope
