#include "tests/support/trace_builder.h"

#include <algorithm>
#include <functional>

#include "profiler/core/trace/op_names.h"

namespace loopscope::test {

std::int64_t EventSpec::Length() const {
  if (length_ns >= 0) return length_ns;
  std::int64_t sum = 0;
  for (const EventSpec& one : inside) sum += one.repeat * one.Length();
  return sum;
}

TraceBuilder::TraceBuilder() {
  Thread("main");
  trace_.quality.clean_end = true;
}

std::uint32_t TraceBuilder::Thread(std::string_view name) {
  const auto found = threads_.find(name);
  if (found != threads_.end()) return found->second;
  const auto index = static_cast<std::uint32_t>(trace_.threads.size());
  loopscope::Thread thread;
  thread.pid = 100;
  thread.tid = 100 + index;
  thread.name = name;
  trace_.threads.push_back(std::move(thread));
  threads_.emplace(name, index);
  return index;
}

StringId TraceBuilder::Intern(std::string_view text) {
  if (text.empty()) return 0;
  const auto found = strings_.find(text);
  if (found != strings_.end()) return found->second;
  trace_.strings.emplace_back(text);
  const auto id = static_cast<StringId>(trace_.strings.size() - 1);
  strings_.emplace(text, id);
  return id;
}

std::uint32_t TraceBuilder::StackOf(const Where& where) {
  trace_.stacks.push_back({{where}});
  return static_cast<std::uint32_t>(trace_.stacks.size() - 1);
}

void TraceBuilder::Mark(MarkKind kind, std::uint64_t value, std::string_view name) {
  loopscope::Mark mark;
  mark.time_ns = now_;
  mark.kind = kind;
  mark.name = Intern(name);
  mark.value = value;
  trace_.marks.push_back(mark);
}

std::int64_t TraceBuilder::Add(std::uint32_t thread, const EventSpec& spec, std::int64_t at_ns, bool detail) {
  for (int i = 0; i < spec.repeat; ++i) {
    AddOne(thread, spec, at_ns, detail, "");
    at_ns += spec.Length();
  }
  return at_ns;
}

void TraceBuilder::AddDetail(Event& event, const EventSpec& spec, bool detail) {
  const bool stack = spec.where && (detail || ops::IsHostRead(spec.name));
  if (!stack && !(detail && (!spec.inputs.empty() || !spec.from.empty()))) return;
  EventDetail taken;
  if (detail) taken.inputs = Intern(spec.inputs);
  if (stack) taken.stack = StackOf(*spec.where);
  taken.further = static_cast<std::uint32_t>(trace_.further_producers.size());
  for (std::size_t i = 0; detail && i < spec.from.size(); ++i) {
    const auto producer = nodes_.find(spec.from[i]);
    if (producer == nodes_.end()) continue;
    if (i > 0) trace_.further_producers.push_back(producer->second);
    if (i == 0) taken.producer = producer->second;
  }
  taken.further_count = static_cast<std::uint32_t>(trace_.further_producers.size()) - taken.further;
  event.detail = static_cast<std::uint32_t>(trace_.details.size());
  trace_.details.push_back(taken);
}

void TraceBuilder::AddDeviceWork(const DeviceSpec& work, std::int64_t called_ns, std::uint32_t correlation) {
  if (work.length_ns < 0) return;
  while (trace_.devices.size() <= work.device) {
    trace_.devices.push_back({"", static_cast<std::uint32_t>(trace_.devices.size()), {}});
  }
  std::int64_t& free_ns = stream_ends_[{work.device, work.stream}];
  DeviceEvent event;
  event.start_ns = std::max(free_ns, called_ns + work.delay_ns);
  event.end_ns = free_ns = event.start_ns + work.length_ns;
  event.bytes = work.bytes;
  event.name = Intern(work.name);
  event.stream = work.stream;
  event.correlation = correlation;
  event.kind = work.kind;
  event.copy = work.copy;
  event.flags = work.flags;
  trace_.devices[work.device].events.push_back(event);
}

void TraceBuilder::AddOne(std::uint32_t thread, const EventSpec& spec, std::int64_t at_ns, bool detail,
                          std::string_view open_node) {
  if (spec.kind == EventSpec::Kind::kGap) return;
  if (spec.kind == EventSpec::Kind::kRange && spec.sub == static_cast<std::uint8_t>(RangeCategory::kLine)) {
    return AddLine(thread, spec, at_ns, detail);
  }
  Event event;
  event.start_ns = at_ns;
  event.end_ns = at_ns + spec.Length();
  event.name = Intern(spec.name);
  event.sub = spec.sub;
  event.flags = spec.flags;
  const bool op = spec.kind == EventSpec::Kind::kOp;
  if (op) {
    if (!spec.inputs.empty() && (ops::IsConvolution(spec.name) || ops::IsMatmul(spec.name))) {
      event.shape_hash = static_cast<std::uint32_t>(std::hash<std::string>{}(spec.inputs)) | 1;
    }
    AddDetail(event, spec, detail);
    // An op and the one inside it that makes the node share its number, as at::RecordFunction reports them.
    if (!spec.node.empty()) {
      if (spec.node != open_node) nodes_[spec.node] = next_sequence_++;
      event.sequence = nodes_[spec.node];
    }
    if (const auto node = nodes_.find(spec.of); node != nodes_.end()) event.sequence = node->second;
  } else {
    event.kind = EventKind::kRange;
    event.value = spec.value;
    if (spec.device) {
      event.value = next_correlation_++;
      AddDeviceWork(*spec.device, at_ns, event.value);
    }
    if (spec.where) {
      trace_.range_stacks[std::uint64_t{thread} << 32 | trace_.threads[thread].events.size()] = StackOf(*spec.where);
    }
  }
  trace_.threads[thread].events.push_back(event);
  for (const EventSpec& one : spec.inside) {
    for (int i = 0; i < one.repeat; ++i) {
      AddOne(thread, one, at_ns, detail, op && !spec.node.empty() ? std::string_view(spec.node) : open_node);
      at_ns += one.Length();
    }
  }
}

// What is inside runs while the line does.
void TraceBuilder::AddLine(std::uint32_t thread, const EventSpec& spec, std::int64_t at_ns, bool detail) {
  const std::uint32_t stack = spec.where ? StackOf(*spec.where) : kNone;
  const float own_share = spec.name.empty() ? 1 : 0;
  trace_.threads[thread].lines.push_back({at_ns, at_ns + spec.Length(), stack, Intern(spec.name), 1, own_share});
  for (const EventSpec& one : spec.inside) {
    for (int i = 0; i < one.repeat; ++i) {
      AddOne(thread, one, at_ns, detail, "");
      at_ns += one.Length();
    }
  }
}

Trace TraceBuilder::Take() {
  std::stable_sort(trace_.marks.begin(), trace_.marks.end(),
                   [](const loopscope::Mark& a, const loopscope::Mark& b) { return a.time_ns < b.time_ns; });
  for (Device& device : trace_.devices) {
    std::stable_sort(device.events.begin(), device.events.end(),
                     [](const DeviceEvent& a, const DeviceEvent& b) { return a.start_ns < b.start_ns; });
    if (device.ordinal < trace_.run.gpus.size()) device.name = trace_.run.gpus[device.ordinal];
  }
  for (const loopscope::Thread& thread : trace_.threads) trace_.quality.events += thread.events.size();
  return std::move(trace_);
}

}  // namespace loopscope::test
