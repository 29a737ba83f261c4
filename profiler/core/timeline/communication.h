// What ranks exchange, as the training process shows it: collectives that its host calls, and the time in which it does
// nothing but communicate.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// A collective of PyTorch's distributed package in a steady step: its operator, "c10d::allreduce_".
struct HostCollective {
  EventRef op;
  std::string_view operation;  // "allreduce_"
  std::uint32_t step = 0;      // index into Timeline::steps()
  int pass = -1;               // the backward pass that it belongs to, as an index into part(Part::kBackward); -1: none
  // Of what it exchanges; elements is -1 outside the detail window and where the trace does not tell.
  std::int64_t elements = -1, bytes = 0;
  std::string_view dtype = {}, device = {};  // of the first tensor; "" on the CPU

  bool in_backward() const { return pass >= 0; }
  bool sized() const { return elements >= 0; }
};

// Those of steady steps, by thread and start.
std::vector<HostCollective> HostCollectives(const Timeline& timeline);

// When the thread that called it went on to something else: the start of its next event that is no wait, or the end of
// the step.
std::int64_t GoesOnAt(const Timeline& timeline, const HostCollective& collective);

// Calls `visit` for every range of a backend's own threads in the training process ("gloo:all_reduce": from the start
// to the last rank's part).
void ForEachBackendRange(const Timeline& timeline, const std::function<void(const Event&)>& visit);

// Time in which a device, or without devices the training thread, did nothing but communicate.
IntervalSet OnlyCommunicating(const Timeline& timeline);

}  // namespace loopscope
