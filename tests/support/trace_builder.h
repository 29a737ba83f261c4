// Builds a Trace by hand: steps, nested ops and ranges on threads, marks. Time passes only as it is told to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/trace.h"

namespace loopscope::test {

// One op or range, with what happens inside it. A length of -1 is the sum of what is inside; what is inside is laid out
// from the start, one after the other, and the rest is the event's own time.
struct EventSpec {
  enum class Kind { kOp, kRange, kGap } kind = Kind::kOp;
  std::string name;
  std::int64_t length_ns = -1;
  std::uint16_t flags = 0;
  std::uint8_t sub = 0;     // at::RecordScope or RangeCategory
  std::uint32_t value = 0;  // ranges
  std::string inputs;       // text as in wire::OpDetailRecord
  std::string node;         // this op makes the graph node of that label, a fresh one each time
  std::string from;         // the node that made its first input: the latest of that label
  std::optional<Where> where;
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
  void AddDetail(Event& event, const EventSpec& spec, bool detail);

  Trace trace_;
  std::int64_t now_ = 1'000'000'000;
  std::uint32_t next_sequence_ = 1;
  std::map<std::string, StringId, std::less<>> strings_;
  std::map<std::string, std::uint32_t, std::less<>> nodes_, threads_;
};

}  // namespace loopscope::test
