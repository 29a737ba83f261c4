// One recorded run, whatever format it came from: the only thing importers produce and Timeline consumes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "probes/wire.h"
#include "profiler/core/trace/device_event.h"
#include "profiler/core/trace/idle_tensors.h"
#include "profiler/core/trace/place.h"
#include "profiler/core/trace/quality.h"

namespace loopscope {

using wire::MarkKind, wire::RangeCategory;

enum class EventKind : std::uint8_t { kOp, kRange };
// One op or range on one host thread. Times are CLOCK_MONOTONIC ns, start_ns <= end_ns.
struct Event {
  std::int64_t start_ns = 0, end_ns = 0;
  StringId name = 0;
  std::uint32_t sequence = kNone;    // autograd sequence number (ops); kNone when none
  std::uint32_t shape_hash = 0;      // ops; 0 when not recorded
  std::uint32_t detail = kNone;      // index into Trace::details
  std::uint32_t value = 0;           // ranges: wire::RangeRecord::value; device calls and waits: correlation
  std::uint16_t forward_thread = 0;  // ops
  std::uint16_t flags = 0;           // ops: wire::OpFlag
  EventKind kind = EventKind::kOp;
  std::uint8_t sub = 0;     // ops: at::RecordScope; ranges: RangeCategory
  std::uint32_t order = 0;  // where times are equal, which began first: the recorder's number; 0 unknown; kNone last

  std::int64_t duration_ns() const { return end_ns - start_ns; }
  bool is_range(RangeCategory category) const {
    return kind == EventKind::kRange && sub == static_cast<std::uint8_t>(category);
  }
};

// An op or range by place: thread index and index into that thread's events.
struct EventRef {
  std::uint32_t thread = 0, index = 0;
};

struct EventDetail {
  StringId inputs = 0;                           // text of the inputs, see wire::OpDetailRecord
  std::uint32_t stack = kNone;                   // index into Trace::stacks
  std::uint32_t producer = kNone;                // sequence number of the first tensor input's grad_fn
  std::uint32_t further = 0, further_count = 0;  // of the other tensor inputs: a range of Trace::further_producers
};

struct Thread {
  std::uint32_t pid = 0, tid = 0;
  std::string name;
  std::vector<Event> events;          // by start, a parent before its children
  std::vector<LineSlice> lines = {};  // by start; they do not overlap
};

struct Mark {
  std::int64_t time_ns = 0;
  MarkKind kind{};
  StringId name = 0;
  std::uint64_t value = 0;
  std::uint32_t thread = 0;  // index into Trace::threads
};

// A step as its recorder said it when it ended: see wire::StepRecord.
struct StepRecord {
  std::int64_t end_ns = 0;
  std::uint64_t samples = 0;  // 0 unknown
  StringId clock = 0;         // what ends its steps: "optimizer:SGD#1", "mark" …
  std::uint32_t thread = 0;   // index into Trace::threads
  std::uint8_t bits = 0;      // wire::StepBit
  std::array<float, wire::kStepSums> sums_ns{};
};

// How long a piece of work takes as it is and with a change: see wire::GainRecord.
struct MeasuredGain {
  std::string change, work;
  std::uint32_t count = 0;
  std::int64_t before_ns = 0, after_ns = 0;
  double ratio_low = 0, ratio_high = 0;  // of after to before, 90 %; 0 where it was not taken
};

struct Applied {
  std::string key, where, old_value, new_value;
  std::uint32_t flags = 0;  // wire::AppliedFlag
  bool changed() const { return flags == 0 && old_value != new_value; }
};

// What the launcher wrote down about the run (run.json), or the trace's own metadata.
struct RunInfo {
  std::string source = "capture";  // capture | kineto | nsys
  std::vector<std::string> command;
  std::string started;  // ISO 8601, UTC
  std::string working_directory;
  std::string cpu;                        // model name
  int cores = 0;                          // min of affinity and cgroup quota; 0 unknown
  std::vector<std::string> cpu_features;  // those that rules ask for: "avx512_bf16", "amx_bf16", "avx512_fp16"
  std::vector<std::string> gpus;
  std::map<std::string, std::string> versions;     // "torch" → "2.11.0"
  std::map<std::string, std::string> environment;  // variables that matter (OMP_NUM_THREADS …), secrets left out
  std::string treatment, node;                     // node: the machine's name, of one of several ranks; "": unknown
  int exit_status = -1, ranks = 1, rank = 0;       // exit_status -1: unknown
};

using FactMap = std::map<std::string, std::string>;  // by key: wire::FactRecord, the last value of each
using Knobs = std::set<std::string, std::less<>>;    // treatments that the program applies itself: wire::KnobRecord

struct Trace {
  RunInfo run;
  Quality quality;
  std::vector<std::string> strings{""};
  std::vector<Thread> threads;
  std::vector<EventDetail> details;
  std::vector<std::uint32_t> further_producers;  // sequence numbers, see EventDetail
  std::vector<Stack> stacks;
  std::vector<Device> devices;  // empty: no device was recorded
  std::vector<Collective> collectives;
  std::vector<EnteredCollective> entered;  // of a flight recorder, in order; empty elsewhere
  std::vector<Mark> marks;                 // by time
  std::vector<StepRecord> steps;           // by end; empty in other formats and before version 1.10: marks say it there
  std::vector<TensorPeak> tensor_peaks;    // of the process that trains, by time; empty: tensors were not followed
  std::vector<IdleTensor> idle_tensors;    // largest first
  std::vector<Applied> applied;
  std::vector<MeasuredGain> gains;
  Knobs knobs;
  FactMap facts;
  std::unordered_map<std::uint64_t, std::uint32_t> range_stacks;  // of few: thread index << 32 | event index → stack

  std::string_view text(StringId id) const { return id < strings.size() ? std::string_view(strings[id]) : ""; }
};

}  // namespace loopscope
