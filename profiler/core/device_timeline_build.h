// How a DeviceTimeline is made: unions of the device's work, then each idle interval judged by what the host did.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "profiler/core/device_links.h"
#include "profiler/core/device_timeline.h"
#include "profiler/core/timeline.h"

namespace loopscope {

// What the threads that launch work did, over the whole run.
struct HostActivity {
  struct Blocking {
    Interval time;
    bool copy = false;  // for a copy to the device
  };
  IntervalSet loader, communication, copies, syncs;
  IntervalSet issuing;             // inside operators, phases and calls, short gaps between them included
  std::vector<Blocking> blocking;  // calls that waited for the device, by start
};

HostActivity HostActivityOf(const Timeline& timeline);

class DeviceTimelineBuilder {
 public:
  // `timeline` has its steps and parts already.
  DeviceTimelineBuilder(const Timeline& timeline, const DeviceLinks& links, const HostActivity& host);
  DeviceTimeline Build(std::uint32_t device);

 private:
  // One idle interval of the device, cut at the call that ended it.
  struct Gap {
    Interval before, launching, queued;
    Interval drained;                          // the part of `before` that a wait of the host is to blame for
    bool drained_by_copy = false;              // it waited for a copy to the device
    bool copy = false, communication = false;  // what came next
  };

  void FindWork();
  void FindWindow();
  void LinkLaunches();
  void MeasureQueue();
  void ForEachGap(const std::function<void(const Gap&)>& visit) const;  // a trace has too many to keep
  Gap GapUntil(Interval idle, std::uint32_t next) const;
  void FindDrain(Gap& gap) const;
  void FindCauses();

  const Timeline& timeline_;
  const Trace& trace_;
  const DeviceLinks& links_;
  const HostActivity& host_;
  DeviceTimeline device_;
};

// All devices of the trace that did any work.
std::vector<DeviceTimeline> BuildDeviceTimelines(const Timeline& timeline);

// `timeline` has its devices already. Of the launches in the steady steps at most 5 % may lack their kernel, and none
// of a graph may.
DeviceCoverage CoverageOf(const Timeline& timeline);

}  // namespace loopscope
