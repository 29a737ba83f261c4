#include "profiler/core/timeline/launches.h"

#include <algorithm>
#include <string_view>

namespace loopscope {
namespace {

constexpr double kMaxUnrecordedShare = 0.05;

enum class Kind : std::uint8_t { kNo, kKernel, kGraph };

// Calls of the CUDA runtime and driver, and of HIP: cudaLaunchKernelExC, cuLaunchKernel, hipExtModuleLaunchKernel …
Kind KindOf(std::string_view name) {
  if (name.find("GraphLaunch") != name.npos) return Kind::kGraph;
  return name.find("LaunchKernel") != name.npos || name.find("LaunchCooperative") != name.npos ? Kind::kKernel
                                                                                               : Kind::kNo;
}

std::vector<std::uint32_t> RecordedCorrelations(const Trace& trace) {
  std::vector<std::uint32_t> recorded;
  for (const Device& device : trace.devices) {
    for (const DeviceEvent& event : device.events) recorded.push_back(event.correlation);
  }
  if (!std::ranges::is_sorted(recorded)) std::ranges::sort(recorded);
  return recorded;
}

// The outermost of the device calls around an event; the event itself when there is none.
std::uint32_t OutermostCall(const Thread& thread, const std::vector<std::uint32_t>& parents, std::uint32_t i) {
  for (std::uint32_t up = parents[i]; up != kNone; up = parents[up]) {
    if (!thread.events[up].is_range(RangeCategory::kDeviceCall)) break;
    i = up;
  }
  return i;
}

}  // namespace

std::vector<Launch> LaunchesOf(const Trace& trace, const std::vector<std::vector<std::uint32_t>>& parents) {
  std::vector<Kind> kinds;
  for (const std::string& name : trace.strings) kinds.push_back(KindOf(name));
  const std::vector<std::uint32_t> recorded = RecordedCorrelations(trace);
  std::vector<Launch> launches;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    const std::vector<Event>& events = trace.threads[t].events;
    std::uint32_t last = kNone;  // the outermost call of this thread's last launch
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      if (!event.is_range(RangeCategory::kDeviceCall) || event.value == 0 || event.name >= kinds.size()) continue;
      if (kinds[event.name] == Kind::kNo) continue;
      const bool left_work = std::ranges::binary_search(recorded, event.value);
      const std::uint32_t outermost = OutermostCall(trace.threads[t], parents[t], i);
      if (outermost == last) {
        launches.back().recorded |= left_work;
      } else if (outermost == i || left_work) {  // else a copy or a fill, which counts as such, launched it
        launches.push_back({event.start_ns, t, kinds[event.name] == Kind::kGraph, left_work});
        last = outermost;
      }
    }
  }
  std::ranges::stable_sort(launches, {}, &Launch::start_ns);
  return launches;
}

std::int64_t LastRecorded(const std::vector<Launch>& launches) {
  const auto last = std::find_if(launches.rbegin(), launches.rend(), [](const Launch& one) { return one.recorded; });
  return last == launches.rend() ? INT64_MIN : last->start_ns;
}

std::int64_t DevicesLeftAt(const Trace& trace) {
  for (const Mark& mark : trace.marks) {
    const bool devices = mark.value == static_cast<std::uint64_t>(wire::ProbeId::kDevices);
    if (mark.kind == MarkKind::kProbeOff && devices) return mark.time_ns;
  }
  return INT64_MAX;
}

bool LaunchCounts::incomplete() const {
  return static_cast<double>(unrecorded) > kMaxUnrecordedShare * static_cast<double>(all);
}

}  // namespace loopscope
