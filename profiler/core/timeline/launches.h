// The calls that launched kernels and CUDA graphs, and which of them left work in the trace.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

struct Launch {
  std::int64_t start_ns = 0;
  std::uint32_t thread = 0;  // index into Trace::threads
  bool graph = false;        // a whole CUDA graph, else one kernel
  bool recorded = false;     // some device did what it asked for
};

// All launches of a trace, by start. A driver call inside a runtime call is a part of that launch: either's correlation
// id may be the one that the work carries. `parents` is by thread and event, as in Timeline.
std::vector<Launch> LaunchesOf(const Trace& trace, const std::vector<std::vector<std::uint32_t>>& parents);

// The start of the last launch that left work; INT64_MIN when none did. What was launched later may have run after the
// records end: a program that was killed, or did not wait for its device at the end, leaves such launches.
std::int64_t LastRecorded(const std::vector<Launch>& launches);

// When the probe of the devices went off, since the program's own profiler took its place; INT64_MAX where it stayed.
std::int64_t DevicesLeftAt(const Trace& trace);

struct LaunchCounts {
  std::uint64_t all = 0, unrecorded = 0;

  void Add(const Launch& launch) {
    ++all;
    unrecorded += !launch.recorded;
  }
  bool incomplete() const;  // more than a few left no work
};

}  // namespace loopscope
