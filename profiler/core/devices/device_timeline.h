// What one device did and why it was idle: unions of its work, the calls that launched it, its idle time by cause.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/trace/interval_set.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// Why a device was idle. Each idle interval ends when some work starts; the call that launched that work identifies the
// host thread that the device waited for. Time before the call is classified by what the host did then, in this order:
//   kLoader         the training thread waited for its dataloader
//   kHostSync       the host was waiting for the device when it ran dry: until the next launch, and between the
//   launches
//                   after that, but for no longer than that wait in all, since without it they would have come earlier
//                   by that much
//   kCopy           the same when that wait was for a copy to the device; and the host's part of any such copy
//   kCommunication  the host was inside a collective (gloo), or a queued collective had not begun
//   kLaunch         the host was issuing operators: it could not queue work as fast as the device finished it
//   kOther          none of the above was recorded, or queued work did not begin although the device was free
// Time from the launching call on is kLaunch for up to kLaunchLatencyNs after the call, kCopy for a pageable copy to
// the device, then kCommunication for a collective, else kOther.
enum class IdleCause { kLoader, kHostSync, kCopy, kLaunch, kCommunication, kOther };
inline constexpr int kIdleCauses = 6;
std::string_view IdleCauseName(IdleCause cause);  // "loader", "host_sync", … as in the report's JSON

inline constexpr std::int64_t kLaunchLatencyNs = 20'000;  // from a launch's return to its start on a free device
inline constexpr std::int64_t kMaxIssueGapNs = 200'000;   // between two operators: the interpreter; longer: other work

// Sums over a window, ns. busy + idle = span; the causes sum to idle. compute, communication and memory are unions of
// their kind and may overlap each other.
struct DeviceTimes {
  std::int64_t span = 0, busy = 0, idle = 0;
  std::int64_t compute = 0;        // kernels and graphs other than collectives
  std::int64_t communication = 0;  // collectives
  std::int64_t memory = 0;         // copies and memsets
  std::int64_t overlap = 0;        // of communication and compute
  std::array<std::int64_t, kIdleCauses> causes{};

  std::int64_t idle_by(IdleCause cause) const { return causes[static_cast<std::size_t>(cause)]; }
  DeviceTimes& operator+=(const DeviceTimes& other);
};

// Whether the trace shows what the devices did.
struct DeviceCoverage {
  bool used = false;               // the program computed on a device, recorded or not
  std::string why_not;             // one sentence when the devices cannot be judged; else empty
  std::string why_no_causes;       // why idle time cannot be split by cause; empty when it can
  std::string why_no_passes = {};  // why what the passes compute is unknown; empty when known
};

class DeviceTimeline {
 public:
  std::uint32_t index() const { return index_; }  // into Trace::devices
  const IntervalSet& busy() const { return busy_; }
  const IntervalSet& compute() const { return compute_; }
  const IntervalSet& communication() const { return communication_; }
  const IntervalSet& memory() const { return memory_; }
  const IntervalSet& idle(IdleCause cause) const { return idle_[static_cast<std::size_t>(cause)]; }  // in the window
  // The steady steps; if there are none, from the device's first piece of work to its last.
  const IntervalSet& window() const { return window_; }

  // The host's call that launched event `i` of the device; {kNone, kNone} when it is not in the trace.
  EventRef launch(std::uint32_t i) const { return launches_[i]; }
  // Calls `visit` with the index of every event that starts inside `within`, in order.
  template <class Visit>
  void ForEach(const Trace& trace, Interval within, const Visit& visit) const;

  DeviceTimes times() const;                            // over the window
  DeviceTimes times(Interval within) const;             // of its part inside `within`
  double launch_delay_us() const { return delay_us_; }  // median from the call's start to the work's; -1 unknown
  double queue_depth() const { return queue_depth_; }   // mean work queued but not started, at a launch; -1 unknown

 private:
  friend class DeviceTimelineBuilder;

  std::uint32_t index_ = 0;
  std::vector<EventRef> launches_;
  IntervalSet busy_, compute_, communication_, memory_, overlap_, window_;
  std::array<IntervalSet, kIdleCauses> idle_;
  double delay_us_ = -1, queue_depth_ = -1;
};

template <class Visit>
void DeviceTimeline::ForEach(const Trace& trace, Interval within, const Visit& visit) const {
  const std::vector<DeviceEvent>& events = trace.devices[index_].events;
  std::size_t low = 0, high = events.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    (events[middle].start_ns < within.start_ns ? low : high) =
        events[middle].start_ns < within.start_ns ? middle + 1 : middle;
  }
  for (; low < events.size() && events[low].start_ns < within.end_ns; ++low) visit(static_cast<std::uint32_t>(low));
}

}  // namespace loopscope
