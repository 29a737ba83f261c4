#include "analyzers/shared/device_copies.h"

#include <algorithm>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"

namespace loopscope {
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
