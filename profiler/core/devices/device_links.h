// Which call on the host launched which work of a device, by correlation id, and what a call meant for its thread.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/core/devices/device_timeline.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// What a thread did in a call of the device's runtime or driver.
enum class HostCall : std::uint8_t {
  kIssue,         // it queued work and went on
  kCopyToDevice,  // it took part in a copy to the device, or waited for one right after
  kWait,          // it waited for the device: a synchronisation, or a copy that returned only when it was done
};

// The copies that calls began, of all devices.
class DeviceCopies {
 public:
  explicit DeviceCopies(const Trace& trace);
  const DeviceEvent* Find(std::uint32_t correlation) const;  // null when the call began none

 private:
  std::vector<std::pair<std::uint32_t, const DeviceEvent*>> copies_;
};

class DeviceLinks {
 public:
  // Calls of process `pid` only; 0 = of any. Where the driver's call is nested in the runtime's, the outer one counts.
  DeviceLinks(const Trace& trace, std::uint32_t pid);
  EventRef Call(std::uint32_t correlation) const;  // {kNone, kNone} when there is none

 private:
  std::vector<std::pair<std::uint32_t, EventRef>> calls_;
};

// Goes through one thread's events in order and says of each device call (kDeviceCall, kSync) what it meant.
class HostCallReader {
 public:
  explicit HostCallReader(const DeviceCopies& copies) : copies_(copies) {}
  HostCall Read(const Event& call);

 private:
  const DeviceCopies& copies_;
  std::int64_t copied_ns_ = INT64_MIN;  // end of the last call, if that was a copy to the device
};

}  // namespace loopscope
