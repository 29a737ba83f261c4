#include "profiler/core/timeline/timeline.h"

#include <algorithm>

namespace loopscope {

double Timeline::part_ms(Part part) const {
  const auto recorded = [&](const PartedStep& one) { return steps()[one.index].operators; };
  if (std::ranges::none_of(parted(), recorded)) return 0;
  double part_ns = 0, total_ns = 0;
  for (const PartedStep& one : parted()) {
    const Step& step = steps()[one.index];
    part_ns += one.weight * static_cast<double>(step.parts_ns[static_cast<std::size_t>(part)]);
    total_ns += one.weight * static_cast<double>(step.time.length());
  }
  return total_ns > 0 ? part_ns / total_ns * mean_step_ms() : 0;
}

const EventDetail* Timeline::detail(EventRef ref) const {
  const std::uint32_t index = event(ref).detail;
  return index < trace_.details.size() ? &trace_.details[index] : nullptr;
}

std::string_view Timeline::inputs(EventRef ref) const {
  const EventDetail* taken = detail(ref);
  return taken != nullptr ? trace_.text(taken->inputs) : "";
}

bool Timeline::outermost_op(EventRef ref) const {
  if (event(ref).kind != EventKind::kOp) return false;
  for (std::uint32_t up = parent(ref); up != kNone; up = parents_[ref.thread][up]) {
    if (event({ref.thread, up}).kind == EventKind::kOp) return false;
  }
  return true;
}

std::int64_t Timeline::self_ns(EventRef ref) const {
  const std::vector<Event>& events = trace_.threads[ref.thread].events;
  const std::vector<std::uint32_t>& parents = parents_[ref.thread];
  std::int64_t self = event(ref).duration_ns(), covered_to = event(ref).start_ns;
  for (std::uint32_t i = ref.index + 1; i < events.size() && events[i].start_ns <= event(ref).end_ns; ++i) {
    if (parents[i] != ref.index || events[i].end_ns <= covered_to) continue;
    self -= events[i].end_ns - std::max(events[i].start_ns, covered_to);
    covered_to = events[i].end_ns;
  }
  return self;
}

const Where* Timeline::where(EventRef ref) const {
  for (std::uint32_t at = ref.index; at != kNone; at = parents_[ref.thread][at]) {
    const EventRef here{ref.thread, at};
    std::uint32_t stack = kNone;
    if (const EventDetail* taken = detail(here)) stack = taken->stack;
    if (event(here).kind == EventKind::kRange) {
      const auto found = trace_.range_stacks.find(std::uint64_t{ref.thread} << 32 | at);
      if (found != trace_.range_stacks.end()) stack = found->second;
    }
    if (stack < trace_.stacks.size() && !trace_.stacks[stack].frames.empty()) return &trace_.stacks[stack].frames[0];
  }
  return nullptr;
}

bool Timeline::inside(EventRef ref, RangeCategory category) const {
  for (std::uint32_t up = parent(ref); up != kNone; up = parents_[ref.thread][up]) {
    if (event({ref.thread, up}).is_range(category)) return true;
  }
  return false;
}

EventRef Timeline::producer(std::uint32_t sequence) const {
  const auto found = std::ranges::partition_point(producers_, [&](const auto& one) { return one.first < sequence; });
  if (sequence == kNone || found == producers_.end() || found->first != sequence) return {kNone, kNone};
  return found->second;
}

std::vector<std::uint32_t> Timeline::input_producers(EventRef ref) const {
  const EventDetail* taken = detail(ref);
  std::vector<std::uint32_t> sequences;
  if (taken == nullptr) return sequences;
  if (taken->producer != kNone) sequences.push_back(taken->producer);
  for (std::uint32_t i = 0; i < taken->further_count; ++i) {
    sequences.push_back(trace_.further_producers[taken->further + i]);
  }
  return sequences;
}

void Timeline::ForEach(std::uint32_t thread, Interval within, const std::function<void(EventRef)>& visit) const {
  if (thread >= trace_.threads.size()) return;
  const std::vector<Event>& events = trace_.threads[thread].events;
  auto one = std::ranges::partition_point(events, [&](const Event& event) { return event.start_ns < within.start_ns; });
  for (; one != events.end() && one->start_ns < within.end_ns; ++one) {
    visit({thread, static_cast<std::uint32_t>(one - events.begin())});
  }
}

void Timeline::ForEachStep(bool detailed, const std::function<void(EventRef)>& visit) const {
  for (const std::uint32_t thread : step_threads_) {
    for (const std::uint32_t index : steady()) {
      if (!detailed || steps()[index].detail) ForEach(thread, steps()[index].time, visit);
    }
  }
}

void Timeline::ForEachSteady(const std::function<void(EventRef)>& visit) const {
  ForEachStep(false, visit);
}
void Timeline::ForEachDetailed(const std::function<void(EventRef)>& visit) const {
  ForEachStep(true, visit);
}

void ForEachWork(const Timeline& timeline, const WorkVisitor& visit) {
  for (const DeviceTimeline& device : timeline.devices()) {
    const std::vector<DeviceEvent>& events = timeline.trace().devices[device.index()].events;
    for (const Interval& window : device.window().intervals()) {
      device.ForEach(timeline.trace(), window, [&](std::uint32_t i) {
        if (events[i].kind != DeviceKind::kWait) visit(device, i, events[i]);
      });
    }
  }
}

}  // namespace loopscope
