// What ranks exchange, as seen in the training process: collectives that its host calls, and time in which it only
// communicates.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// As PyTorch names what its backends do, from the start to the last rank's part: "gloo:all_reduce" on their own
// threads, "gloo:send" on the one that waits for it.
bool IsBackendRange(std::string_view name);

// A collective of PyTorch's distributed package in a steady step: its operator, "c10d::allreduce_".
struct HostCollective {
  EventRef op;
  std::string_view operation;  // "allreduce_"
  std::uint32_t step = 0;      // index into Timeline::steps()
  int pass = -1;               // the backward pass that it belongs to, as an index into part(Part::kBackward); -1: none
  // Size of what it exchanges; elements is -1 outside the detail window and where it is not in the trace.
  std::int64_t elements = -1, bytes = 0;
  std::string_view dtype = {}, device = {};  // of the first tensor; "" on the CPU

  bool in_backward() const { return pass >= 0; }
  bool sized() const { return elements >= 0; }
};

// The collectives of steady steps, by thread and start.
std::vector<HostCollective> HostCollectives(const Timeline& timeline);

// When the calling thread went on to something else: the start of its next event that is not a wait, or the end of the
// step.
std::int64_t GoesOnAt(const Timeline& timeline, const HostCollective& collective);

// Calls `visit` for every range of a backend's own threads in the training process ("gloo:all_reduce": from the start
// to the last rank's part).
void ForEachBackendRange(const Timeline& timeline, const std::function<void(const Event&)>& visit);

// Time in which a device, or without devices the training thread, did nothing but communicate.
IntervalSet OnlyCommunicating(const Timeline& timeline);

// How much of `times` lies in an undisturbed step, on average; with a device in a steady one. There is at least one.
double MsInAStep(const Timeline& timeline, const IntervalSet& times);

}  // namespace loopscope
