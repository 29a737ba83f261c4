#include "profiler/core/devices/device_links.h"

#include <algorithm>

namespace loopscope {
namespace {

bool IsDeviceCall(const Event& event) {
  return event.is_range(RangeCategory::kDeviceCall) || event.is_range(RangeCategory::kSync);
}

template <class Value>
void SortByCorrelation(std::vector<std::pair<std::uint32_t, Value>>& all) {
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::ranges::is_sorted(all, before)) std::ranges::stable_sort(all, before);
}

template <class Value>
const Value* Lookup(const std::vector<std::pair<std::uint32_t, Value>>& all, std::uint32_t correlation) {
  if (correlation == 0) return nullptr;
  const auto found = std::ranges::partition_point(all, [&](const auto& one) { return one.first < correlation; });
  return found == all.end() || found->first != correlation ? nullptr : &found->second;
}

}  // namespace

DeviceCopies::DeviceCopies(const Trace& trace) {
  for (const Device& device : trace.devices) {
    for (const DeviceEvent& event : device.events) {
      if (event.kind == DeviceKind::kCopy && event.correlation != 0) copies_.push_back({event.correlation, &event});
    }
  }
  SortByCorrelation(copies_);
}

const DeviceEvent* DeviceCopies::Find(std::uint32_t correlation) const {
  const DeviceEvent* const* found = Lookup(copies_, correlation);
  return found != nullptr ? *found : nullptr;
}

DeviceLinks::DeviceLinks(const Trace& trace, std::uint32_t pid) {
  if (trace.devices.empty()) return;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    if (pid != 0 && trace.threads[t].pid != pid) continue;
    const std::vector<Event>& events = trace.threads[t].events;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      if (events[i].value != 0 && IsDeviceCall(events[i])) calls_.push_back({events[i].value, {t, i}});
    }
  }
  SortByCorrelation(calls_);
}

EventRef DeviceLinks::Call(std::uint32_t correlation) const {
  const EventRef* found = Lookup(calls_, correlation);
  return found != nullptr ? *found : EventRef{kNone, kNone};
}

HostCall HostCallReader::Read(const Event& call) {
  constexpr std::int64_t kClockSlackNs = 1'000;  // between the device's clock and the host's
  const bool sync = call.is_range(RangeCategory::kSync);
  const bool after_copy = sync && copied_ns_ != INT64_MIN && call.start_ns - copied_ns_ <= kMaxIssueGapNs;
  copied_ns_ = INT64_MIN;
  if (sync) return after_copy ? HostCall::kCopyToDevice : HostCall::kWait;
  const DeviceEvent* copy = copies_.Find(call.value);
  if (copy == nullptr) return HostCall::kIssue;
  if (copy->copy == CopyKind::kHostToDevice) {
    copied_ns_ = call.end_ns;
    return HostCall::kCopyToDevice;
  }
  return call.end_ns + kClockSlackNs >= copy->end_ns ? HostCall::kWait : HostCall::kIssue;
}

}  // namespace loopscope
