// Matches host calls to the device work they launched, by correlation id, and classifies what each call did.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/core/devices/device_timeline.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// What a thread did in a call to the device runtime or driver.
enum class HostCall : std::uint8_t {
  kIssue,         // it queued work and went on
  kCopyToDevice,  // it took part in a copy to the device, or waited for one right after
  kWait,          // it waited for the device: a synchronisation, or a copy that returned only when it was done
};

// Copies on all devices, by the call that started them.
class DeviceCopies {
 public:
  explicit DeviceCopies(const Trace& trace);
  const DeviceEvent* Find(std::uint32_t correlation) const;  // null when the call started none

 private:
  std::vector<std::pair<std::uint32_t, const DeviceEvent*>> copies_;
};

class DeviceLinks {
 public:
  // Only calls of process `pid`; 0: of any. When a driver call is nested in a runtime call, the outer one counts.
  DeviceLinks(const Trace& trace, std::uint32_t pid);
  EventRef Call(std::uint32_t correlation) const;  // {kNone, kNone} when there is none

 private:
  std::vector<std::pair<std::uint32_t, EventRef>> calls_;
};

// Reads one thread's events in order and classifies each device call (kDeviceCall, kSync).
class HostCallReader {
 public:
  explicit HostCallReader(const DeviceCopies& copies) : copies_(copies) {}
  HostCall Read(const Event& call);

 private:
  const DeviceCopies& copies_;
  std::int64_t copied_ns_ = INT64_MIN;  // end of the last call, if that was a copy to the device
};

}  // namespace loopscope
