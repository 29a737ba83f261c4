// Up to which step the devices' records are complete: they come late and in buffers, and what is still held when a
// program is killed is lost.
#include <algorithm>
#include <string>

#include "profiler/core/timeline/timeline_build.h"

namespace loopscope {
namespace {

std::int64_t LastWork(const Trace& trace) {
  std::int64_t last_ns = INT64_MIN;
  for (const Device& device : trace.devices) {
    for (const DeviceEvent& event : device.events) last_ns = std::max(last_ns, event.end_ns);
  }
  return last_ns;
}

// The last call of a thread that called its devices before `middle_ns`; else INT64_MAX. Each thread's calls come in
// buffers of their own.
std::int64_t LastCall(const Thread& thread, std::int64_t middle_ns) {
  std::int64_t last_ns = INT64_MAX;
  for (const Event& event : thread.events) {
    if (!event.is_range(RangeCategory::kDeviceCall) && !event.is_range(RangeCategory::kSync)) continue;
    if (last_ns == INT64_MAX && event.start_ns > middle_ns) return INT64_MAX;
    last_ns = event.start_ns;
  }
  return last_ns;
}

}  // namespace

// Where a capture did not end in order: until the first of the records' kinds ends.
std::int64_t TimelineBuilder::HandedOverUntil() const {
  const Trace& trace = timeline_.trace_;
  if (const std::int64_t left_ns = DevicesLeftAt(trace); left_ns != INT64_MAX) return left_ns;
  if (trace.run.source != "capture" || trace.quality.clean_end || timeline_.steady().empty()) return INT64_MAX;
  const Interval& middle = timeline_.steps()[timeline_.steady()[timeline_.steady().size() / 2]].time;
  std::int64_t until_ns = LastWork(trace);
  for (const std::uint32_t thread : timeline_.step_threads_) {
    until_ns = std::min(until_ns, LastCall(trace.threads[thread], middle.start_ns));
  }
  return until_ns;
}

// A step at the end whose work is not in the trace would look as if the devices had been idle.
void TimelineBuilder::DropUnrecordedSteps() {
  const std::span<const std::uint32_t> steady = timeline_.steady();
  if (timeline_.trace_.devices.empty() || steady.empty()) return;
  const std::int64_t last_ns = LastRecorded(launches_), until_ns = HandedOverUntil();
  const auto incomplete = [&](std::uint32_t index) {
    const Interval& time = timeline_.steps()[index].time;
    if (time.end_ns > until_ns) return true;
    LaunchCounts kernels, graphs;
    auto one = std::ranges::lower_bound(launches_, time.start_ns, {}, &Launch::start_ns);
    for (; one != launches_.end() && one->start_ns < time.end_ns; ++one) {
      LaunchCounts& counts = one->graph ? graphs : kernels;
      ++counts.all;
      counts.unrecorded += one->start_ns > last_ns;
    }
    return kernels.incomplete() || graphs.incomplete();
  };
  std::size_t kept = steady.size();
  while (kept > 0 && incomplete(steady[kept - 1])) --kept;
  if (kept == 0 || kept == steady.size()) return;
  timeline_.trace_.quality.warnings.emplace_back(
      "the records of the GPU end before the program: what rules say of it leaves out the last " +
      std::to_string(steady.size() - kept) + " of " + std::to_string(steady.size()) + " steps");
  timeline_.steps_.KeepSteady(kept);
}

}  // namespace loopscope
