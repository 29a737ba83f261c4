// How much the probes slowed the steps down.
#include <algorithm>

#include "profiler/core/timeline/timeline_build.h"

namespace loopscope {
namespace {

// The most that the LibTorch probe adds per op, measured by tests/bench: 0.2 us in a loop whose code stays in the
// caches, 0.7 us among many small operators in Python.
constexpr double kProbeNsPerEvent = 700;
// Of a call that launches, copies or waits, most of it CUPTI's own. On an H100 a step of 324 small kernels and some
// 1300 operators took 15.4 ms where it took 10.1 unrecorded.
constexpr double kCollectorNsPerCall = 15'000;

}  // namespace

void TimelineBuilder::EstimateProbeCost() {
  if (timeline_.trace_.run.source != "capture") return;
  double events = 0, calls = 0, steps_ns = 0, idle_ns = 0;
  for (const std::uint32_t i : timeline_.undisturbed()) {
    if (!timeline_.steps()[i].operators) continue;
    steps_ns += static_cast<double>(timeline_.steps()[i].time.length());
    for (const DeviceTimeline& device : timeline_.devices_) {
      idle_ns += static_cast<double>(device.times(timeline_.steps()[i].time).idle);
    }
    timeline_.ForEach(timeline_.training_thread_, timeline_.steps()[i].time, [&](EventRef ref) {
      const Event& event = timeline_.event(ref);
      ++(event.is_range(RangeCategory::kDeviceCall) || event.is_range(RangeCategory::kSync) ? calls : events);
    });
  }
  if (events + calls == 0) return;
  // Behind a device that has work the host's time costs nothing.
  const double collector_ns = std::min(calls * kCollectorNsPerCall, idle_ns);
  timeline_.trace_.quality.probe_cost_pct =
      std::min(100.0, 100 * (events * kProbeNsPerEvent + collector_ns) / steps_ns);
}

}  // namespace loopscope
