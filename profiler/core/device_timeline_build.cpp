#include "profiler/core/device_timeline_build.h"

#include <algorithm>
#include <utility>

namespace loopscope {
namespace {

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

}  // namespace

DeviceTimelineBuilder::DeviceTimelineBuilder(const Timeline& timeline, const DeviceLinks& links,
                                             const HostActivity& host)
    : timeline_(timeline), trace_(timeline.trace()), links_(links), host_(host) {}

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
  std::vector<Interval> steps;
  for (const std::uint32_t index : timeline_.steady()) steps.push_back(timeline_.steps()[index].time);
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
      launched.push_back(timeline_.event(device_.launches_[i]).start_ns);
      begun.push_back(event.start_ns);
      delays.push_back(std::max<std::int64_t>(begun.back() - launched.back(), 0));
    });
  }
  if (delays.empty()) return;
  const auto middle = delays.begin() + static_cast<std::ptrdiff_t>(delays.size() / 2);
  std::nth_element(delays.begin(), middle, delays.end());
  device_.delay_us_ = static_cast<double>(*middle) / 1e3;
  std::sort(launched.begin(), launched.end());
  std::sort(begun.begin(), begun.end());
  double waiting = 0;
  std::size_t started = 0;
  for (std::size_t i = 0; i < launched.size(); ++i) {
    while (started < begun.size() && begun[started] <= launched[i]) ++started;
    waiting += i > started ? static_cast<double>(i - started) : 0;
  }
  device_.queue_depth_ = waiting / static_cast<double>(launched.size());
}

std::vector<DeviceTimeline> BuildDeviceTimelines(const Timeline& timeline) {
  std::vector<DeviceTimeline> devices;
  const Trace& trace = timeline.trace();
  if (trace.devices.empty()) return devices;
  const std::uint32_t training = timeline.training_thread();
  const DeviceLinks links(trace, training < trace.threads.size() ? trace.threads[training].pid : 0);
  const HostActivity host = HostActivityOf(timeline);
  for (std::uint32_t i = 0; i < trace.devices.size(); ++i) {
    if (!std::ranges::any_of(trace.devices[i].events, IsWork)) continue;
    devices.push_back(DeviceTimelineBuilder(timeline, links, host).Build(i));
  }
  return devices;
}

}  // namespace loopscope
