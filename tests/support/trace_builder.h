// Builds a Trace by hand: steps, nested ops and ranges on threads, marks. Time passes only when told to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope::test {

// What a call launches on a device: it begins `delay_ns` after the call did, or when its stream is free.
struct DeviceSpec {
  std::string name;
  std::int64_t length_ns = -1;  // -1: it left nothing in the trace
  std::int64_t delay_ns = 5'000;
  std::uint64_t bytes = 0;
  std::uint32_t stream = 7, device = 0;
  DeviceKind kind = DeviceKind::kKernel;
  CopyKind copy = CopyKind::kNotACopy;
  std::uint8_t flags = 0;
};

// One op or range, with what happens inside it. A length of -1 is the sum of what is inside; what is inside is laid out
// from the start, one after the other, and the rest is the event's own time.
struct EventSpec {
  enum class Kind { kOp, kRange, kGap } kind = Kind::kOp;
  std::string name;
  std::int64_t length_ns = -1;
  std::uint16_t flags = 0;
  std::uint8_t sub = 0;           // at::RecordScope or RangeCategory
  std::uint32_t value = 0;        // ranges
  std::string inputs;             // text as in wire::OpDetailRecord
  std::string node;               // this op makes the graph node of that label, a fresh one each time
  std::string of;                 // this op runs the latest graph node of that label, in a backward pass
  std::vector<std::string> from;  // the nodes that made its inputs: the latest of each label; first the first input's
  std::optional<Where> where;
  std::optional<DeviceSpec> device;  // of a device call
  int repeat = 1;
  std::vector<EventSpec> inside;

  std::int64_t Length() const;  // of one repetition
};

class TraceBuilder {
 public:
  TraceBuilder();

  Trace& trace() { return trace_; }
  std::uint32_t Thread(std::string_view name);  // made on first use; the first is the training thread
  std::int64_t now() const { return now_; }
  void Advance(std::int64_t ns) { now_ += ns; }
  // Lays `spec` out on `thread` from `at_ns`; details (inputs, call site, producer) only when `detail`, except for the
  // call sites of ranges and host reads, which probes always take. Returns where it ends.
  std::int64_t Add(std::uint32_t thread, const EventSpec& spec, std::int64_t at_ns, bool detail);
  void Mark(MarkKind kind, std::uint64_t value = 0, std::string_view name = "");
  Trace Take();

 private:
  StringId Intern(std::string_view text);
  std::uint32_t StackOf(const Where& where);
  void AddOne(std::uint32_t thread, const EventSpec& spec, std::int64_t at_ns, bool detail, std::string_view open_node);
  void AddLine(std::uint32_t thread, const EventSpec& spec, std::int64_t at_ns, bool detail);
  void AddDeviceWork(const DeviceSpec& work, std::int64_t called_ns, std::uint32_t correlation);
  void AddDetail(Event& event, const EventSpec& spec, bool detail);

  Trace trace_;
  std::int64_t now_ = 1'000'000'000;
  std::uint32_t next_sequence_ = 1, next_correlation_ = 1;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> stream_ends_;  // by device and stream
  std::map<std::string, StringId, std::less<>> strings_;
  std::map<std::string, std::uint32_t, std::less<>> nodes_, threads_;
};

}  // namespace loopscope::test
