// What one reading thread produced from its windows, before the merge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/core/trace/trace.h"
#include "profiler/importers/kineto/block.h"
#include "profiler/importers/kineto/names.h"
#include "profiler/importers/kineto/strings.h"

namespace loopscope {

// A Python function from its call to its return.
struct PythonCall {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t name = 0;
  std::uint32_t called_from = kNone;  // a name, too: "train.py:41", the line that called it; kNone before torch 2.14
};

// Names and details in the records are indices into the shard's own tables.
// The times that events span, to see at once whether any of them is out of place.
struct KinetoReach {
  std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, last_end_ns = INT64_MIN;  // starts but 0; ends
  bool zero = false;                                                                // one starts at 0

  void Add(std::int64_t start_ns, std::int64_t end_ns) {
    zero |= start_ns == 0;
    if (start_ns != 0) first_ns = std::min(first_ns, start_ns);
    last_ns = std::max(last_ns, start_ns);
    last_end_ns = std::max(last_end_ns, end_ns);
  }
};

struct KinetoThread {
  std::uint32_t pid = 0, tid = 0;
  KinetoColumn<Event> ops;    // ops and ranges
  KinetoColumn<Event> calls;  // of the device's runtime; apart, since Kineto writes both in order of time
  KinetoColumn<PythonCall> python;
};

struct KinetoDevice {
  std::uint32_t ordinal = 0;
  std::uint32_t pid = 0;  // as its work carries it: mostly the ordinal, too
  KinetoColumn<DeviceEvent> events;
  KinetoColumn<Collective> collectives;  // DeviceEvent::group counts from 0 in each window
};

// Ids of texts (a pid of "rank0:4242") lie above all others.
inline constexpr std::uint32_t kNamedId = 0x80000000u;

// One half of a piece of work that is written as two elements, a begin ("B") and an end ("E").
struct KinetoEdge {
  enum class Of : std::uint8_t { kEnd, kOp, kCall, kPython, kDevice };
  std::uint64_t seen_at = 0;
  std::int64_t time_ns = 0;
  std::uint32_t pid = 0, tid = 0;
  Of of = Of::kEnd;
  std::uint32_t device = 0;  // index into KinetoShard::devices
  Event event = {};          // of ops, calls and Python functions (their names)
  DeviceEvent work = {};
};

struct KinetoShard {
  KinetoStrings names;
  KinetoStrings inputs;  // the raw texts of "Input Dims", "Input type" and "Concrete Inputs", with kInputsGap between
  KinetoStrings stacks;  // raw texts of "Call stack"
  std::vector<std::uint32_t> inputs_of_detail, stack_of_detail;  // Event::detail → numbers in inputs and stacks
  std::unordered_map<std::uint64_t, std::uint32_t> details;      // by both
  std::vector<KinetoThread> threads;
  std::vector<KinetoDevice> devices;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> thread_names;  // (pid, tid) → name
  std::map<std::uint32_t, std::uint32_t> process_names;                           // of named pids → name
  std::map<std::int64_t, std::uint64_t> peak_bytes;                               // allocated, by device
  std::vector<KinetoEdge> edges;
  KinetoReach reach;
  std::uint64_t events = 0;      // of any kind that this format knows
  std::uint64_t damaged = 0;     // elements that could not be read
  std::uint64_t impossible = 0;  // events with a negative length, or times that do not fit
  std::uint64_t crowded = 0;     // events of threads or devices beyond the most that are kept apart
  std::uint64_t unpaired = 0;    // begins without an end and ends without a begin
  std::uint64_t timeless = 0;    // events at time 0, which others do not reach
  std::uint64_t far_off = 0;     // events days away from all others, or that last longer than the trace
  std::uint64_t lost_work = 0;   // of these, what a device did
};

inline constexpr char kInputsGap = '\x01';

}  // namespace loopscope
