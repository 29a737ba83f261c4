#include "profiler/importers/capture/join.h"

#include <algorithm>
#include <utility>

namespace loopscope {
namespace {

// A device shared by two processes becomes one.
void JoinDevices(const Trace& from, StringId strings, Trace& into) {
  const auto collectives = static_cast<std::uint32_t>(into.collectives.size());
  for (Collective one : from.collectives) {
    one.operation += strings;
    one.group += strings;
    into.collectives.push_back(one);
  }
  for (const Device& device : from.devices) {
    auto same = std::ranges::find(into.devices, device.ordinal, &Device::ordinal);
    if (same == into.devices.end()) same = into.devices.insert(same, {device.name, device.ordinal, {}});
    for (DeviceEvent event : device.events) {
      event.name += strings;
      if (event.group != kNone) event.group += collectives;
      same->events.push_back(event);
    }
    std::ranges::stable_sort(same->events, {}, &DeviceEvent::start_ns);
  }
}

}  // namespace

void JoinCapture(Trace from, Trace& into) {
  const auto strings = static_cast<StringId>(into.strings.size());
  const auto stacks = static_cast<std::uint32_t>(into.stacks.size());
  const auto details = static_cast<std::uint32_t>(into.details.size());
  const auto threads = static_cast<std::uint32_t>(into.threads.size());
  auto moved = [](std::uint32_t id, std::uint32_t by) { return id == kNone ? kNone : id + by; };
  for (Thread& thread : from.threads) {
    for (Event& event : thread.events) {
      event.name += strings;
      event.detail = moved(event.detail, details);
    }
    for (LineSlice& line : thread.lines) {
      if (line.called != 0) line.called += strings;
      line.stack = moved(line.stack, stacks);
    }
    into.threads.push_back(std::move(thread));
  }
  const auto further = static_cast<std::uint32_t>(into.further_producers.size());
  for (EventDetail one : from.details) {
    one.inputs += strings;
    one.stack = moved(one.stack, stacks);
    one.further += further;
    into.details.push_back(one);
  }
  into.further_producers.insert(into.further_producers.end(), from.further_producers.begin(),
                                from.further_producers.end());
  for (Mark mark : from.marks) {
    mark.name += strings;
    mark.thread += threads;
    into.marks.push_back(mark);
  }
  for (StepRecord step : from.steps) {
    step.clock += strings;
    step.thread += threads;
    into.steps.push_back(step);
  }
  for (const auto& [key, stack] : from.range_stacks) {
    into.range_stacks[key + (std::uint64_t{threads} << 32)] = moved(stack, stacks);
  }
  JoinDevices(from, strings, into);
  into.strings.insert(into.strings.end(), from.strings.begin(), from.strings.end());
  into.stacks.insert(into.stacks.end(), from.stacks.begin(), from.stacks.end());
  into.applied.insert(into.applied.end(), from.applied.begin(), from.applied.end());
  into.knobs.merge(from.knobs);
  into.facts.merge(from.facts);
  into.quality.events += from.quality.events;
  into.quality.dropped += from.quality.dropped;
}

}  // namespace loopscope
