// Builds a DeviceTimeline: unions of the device's work, then the cause of each idle interval from what the host did.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "profiler/core/devices/device_links.h"
#include "profiler/core/devices/device_timeline.h"
#include "profiler/core/devices/host_activity.h"

namespace loopscope {

class DeviceTimelineBuilder {
 public:
  DeviceTimelineBuilder(const HostView& view, const DeviceLinks& links, const HostActivity& host);
  DeviceTimeline Build(std::uint32_t device);

 private:
  // One idle interval of the device, cut at the call that ended it.
  struct Gap {
    Interval before, launching, queued;
    Interval drained;                          // the part of `before` caused by a wait of the host
    bool drained_by_copy = false;              // it waited for a copy to the device
    std::int64_t waited_ns = 0;                // for how long it waited
    bool copy = false, communication = false;  // what came next
  };

  void FindWork();
  void FindWindow();
  void LinkLaunches();
  void MeasureQueue();
  void ForEachGap(const std::function<void(const Gap&)>& visit) const;  // a trace has too many to keep
  Gap GapUntil(Interval idle, std::uint32_t next) const;
  void FindDrain(Gap& gap) const;

  // The part of a host's wait that has not shown up as idle time yet.
  struct LostLead {
    std::int64_t left_ns = 0;
    bool by_copy = false;
  };
  static void ChargeTo(LostLead& lead, Gap& gap);
  void FindCauses();

  const Event& CallOf(EventRef ref) const { return trace_.threads[ref.thread].events[ref.index]; }

  const HostView& view_;
  const Trace& trace_;
  const DeviceLinks& links_;
  const HostActivity& host_;
  DeviceTimeline device_;
};

// All devices of the trace that did any work.
std::vector<DeviceTimeline> BuildDeviceTimelines(const HostView& view);

}  // namespace loopscope
