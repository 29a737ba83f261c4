#include "profiler/core/timeline/hta.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

bool IsCommunication(std::string_view name) {
  return name.starts_with("nccl") || name.find("ncclKernel") != name.npos;
}

bool IsMemory(const DeviceEvent& event, std::string_view name) {
  return event.kind == DeviceKind::kCopy || event.kind == DeviceKind::kMemset || name.starts_with("Memcpy") ||
         name.starts_with("Memset");
}

// In doubles, as that tool computes it: a start of 0.655 us and a length of 0.345 us end before 1 us. The tool does not
// know the base that times are relative to.
Interval Rounded(const DeviceEvent& event, std::int64_t base_ns) {
  const auto us = [](std::int64_t ns) { return static_cast<double>(static_cast<long double>(ns) / 1000.0L); };
  const double start_us = us(event.start_ns - base_ns), length_us = us(event.duration_ns());
  return {static_cast<std::int64_t>(std::ceil(start_us)), static_cast<std::int64_t>(std::floor(start_us + length_us))};
}

// What the importer added to the times in the file.
std::int64_t BaseNs(const Trace& trace) {
  return NumberFact(trace, "time.base_ns").value_or(0);
}

std::optional<std::int64_t> StepNumber(std::string_view name) {
  constexpr std::string_view kStepPrefix = "ProfilerStep#";
  std::int64_t number = 0;
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  name.remove_prefix(kStepPrefix.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// When the last of two or more steps began; none otherwise.
std::optional<std::int64_t> LastStepStart(const Trace& trace) {
  std::map<StringId, std::int64_t> numbers;
  for (StringId id = 0; id < trace.strings.size(); ++id) {
    if (const auto number = StepNumber(trace.strings[id])) numbers[id] = *number;
  }
  std::map<std::int64_t, std::int64_t> starts;  // by step
  for (const Thread& thread : trace.threads) {
    for (const Event& event : thread.events) {
      if (event.kind != EventKind::kRange || numbers.empty()) continue;
      const auto found = numbers.find(event.name);
      if (found == numbers.end()) continue;
      const auto first = starts.emplace(found->second, event.start_ns).first;
      first->second = std::min(first->second, event.start_ns);
    }
  }
  if (starts.size() < 2) return std::nullopt;
  return starts.rbegin()->second;
}

// Work that counts, by kind.
struct Work {
  std::vector<Interval> all, compute, communication, memory;
};

Work Collect(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  const std::optional<std::int64_t> last_step = LastStepStart(trace);
  const std::int64_t base_ns = BaseNs(trace);
  Work work;
  for (const DeviceTimeline& device : timeline.devices()) {
    const std::vector<DeviceEvent>& events = trace.devices[device.index()].events;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const bool wait = events[i].kind == DeviceKind::kWait;
      const EventRef launch = device.launch(i);
      if (last_step && launch.thread != kNone && timeline.event(launch).start_ns >= *last_step) continue;
      const std::string_view name = trace.text(events[i].name);
      const Interval time = Rounded(events[i], base_ns);
      work.all.push_back(time);
      if (wait) continue;
      (IsCommunication(name)       ? work.communication
       : IsMemory(events[i], name) ? work.memory
                                   : work.compute)
          .push_back(time);
    }
  }
  return work;
}

}  // namespace

std::optional<HtaTimes> HtaTimesOf(const Timeline& timeline) {
  Work work = Collect(timeline);
  if (work.all.empty()) return std::nullopt;
  Interval span = work.all.front();
  for (const Interval& one : work.all) {
    span = {std::min(span.start_ns, one.start_ns), std::max(span.end_ns, one.end_ns)};
  }
  const IntervalSet busy(std::move(work.all)), compute(std::move(work.compute)),
      communication(std::move(work.communication)), memory(std::move(work.memory));
  HtaTimes times;
  times.total_us = static_cast<double>(span.length());
  times.idle_us = static_cast<double>(span.length() - busy.total_ns());
  times.compute_us = static_cast<double>(compute.total_ns());
  times.communication_us = static_cast<double>(communication.total_ns());
  times.memory_us = static_cast<double>(memory.total_ns());
  times.non_compute_us = times.total_us - times.idle_us - times.compute_us;
  if (communication.total_ns() > 0) {
    const double overlap = static_cast<double>(communication.Intersect(compute).total_ns());
    times.comm_overlap_pct = 100 * overlap / times.communication_us;
  }
  return times;
}

}  // namespace loopscope
