#include "profiler/core/devices/device_timeline.h"

#include <algorithm>

namespace loopscope {

std::string_view IdleCauseName(IdleCause cause) {
  static constexpr std::array<std::string_view, kIdleCauses> kNames{"loader", "host_sync",     "copy",
                                                                    "launch", "communication", "other"};
  return kNames[static_cast<std::size_t>(cause)];
}

DeviceTimes& DeviceTimes::operator+=(const DeviceTimes& other) {
  span += other.span;
  busy += other.busy;
  idle += other.idle;
  compute += other.compute;
  communication += other.communication;
  memory += other.memory;
  overlap += other.overlap;
  for (std::size_t cause = 0; cause < causes.size(); ++cause) causes[cause] += other.causes[cause];
  return *this;
}

DeviceTimes DeviceTimeline::times(Interval within) const {
  DeviceTimes sum;
  for (const Interval& window : window_.intervals()) {
    const Interval one{std::max(window.start_ns, within.start_ns), std::min(window.end_ns, within.end_ns)};
    if (one.end_ns <= one.start_ns) continue;
    DeviceTimes part;
    part.span = one.length();
    part.busy = busy_.total_ns(one);
    part.idle = part.span - part.busy;
    part.compute = compute_.total_ns(one);
    part.communication = communication_.total_ns(one);
    part.memory = memory_.total_ns(one);
    part.overlap = overlap_.total_ns(one);
    for (std::size_t cause = 0; cause < idle_.size(); ++cause) part.causes[cause] = idle_[cause].total_ns(one);
    sum += part;
  }
  return sum;
}

DeviceTimes DeviceTimeline::times() const {
  if (window_.intervals().empty()) return {};
  return times({window_.intervals().front().start_ns, window_.intervals().back().end_ns});
}

}  // namespace loopscope
