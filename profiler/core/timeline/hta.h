// A device's times by the definitions of Holistic Trace Analysis, for comparison with that tool's figures.
#pragma once

#include <optional>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// Microseconds, over all devices of the trace as if they were one:
// - with two or more distinct ranges ProfilerStep#n, work does not count when a host event that begins with the one of
//   the highest n, or later, launched it; work whose launch is not in the trace counts;
// - an event spans ceil(start) to floor(start + duration) in microseconds;
// - idle is the span of all work less its union. Waits recorded on a stream count as work there, which hides idle time:
//   our own definitions leave them out;
// - communication is ^nccl or ncclKernel by name, memory is copies and memsets, compute is the union of the other work.
struct HtaTimes {
  double total_us = 0, idle_us = 0, compute_us = 0, communication_us = 0, memory_us = 0;
  double non_compute_us = 0;               // total less idle less compute
  std::optional<double> comm_overlap_pct;  // of communication, under compute; absent without communication
};

// Empty when the trace holds no work of a device.
std::optional<HtaTimes> HtaTimesOf(const Timeline& timeline);

}  // namespace loopscope
