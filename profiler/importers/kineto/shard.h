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
};

// Names and details in the records are indices into the shard's own tables.
struct KinetoThread {
  std::uint32_t pid = 0, tid = 0;
  KinetoColumn<Event> ops;    // ops and ranges
  KinetoColumn<Event> calls;  // of the device's runtime; apart, since Kineto writes both in order of time
  KinetoColumn<PythonCall> python;
};

struct KinetoDevice {
  std::uint32_t ordinal = 0;
  KinetoColumn<DeviceEvent> events;
  KinetoColumn<Collective> collectives;  // DeviceEvent::group counts from 0 in each window
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
  std::map<std::int64_t, std::uint64_t> peak_bytes;                               // allocated, by device
  std::uint64_t events = 0;                                                       // of any kind that this format knows
  std::uint64_t damaged = 0;                                                      // elements that could not be read
  std::uint64_t impossible = 0;  // events with a negative length, or times that do not fit
  std::uint64_t crowded = 0;     // events of threads or devices beyond the most that are kept apart
  std::uint64_t unpaired = 0;    // begin and end events, which Kineto does not write
};

inline constexpr char kInputsGap = '\x01';

}  // namespace loopscope
