// Host activity that explains why a device was idle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/core/trace/interval_set.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// The host's side of a run, as the timeline found it. References outlive the view.
struct HostView {
  const Trace& trace;
  std::uint32_t training_thread = kNone;   // index into trace.threads; kNone when unknown
  std::span<const std::uint32_t> threads;  // the training thread, then the autograd engine's; may be empty
  std::span<const Interval> steady;        // the steps that rules look at
  const IntervalSet& loader_wait;          // of the training thread, over the whole run
};

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

HostActivity HostActivityOf(const HostView& view);

}  // namespace loopscope
