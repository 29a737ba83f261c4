// A recorded program, as tests/e2e/replay_lines.py writes it down from a trace of PyTorch's profiler. One thing a line,
// its letter first; times in ns from the trace's beginning; names by number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace loopscope::replay {

struct Device {  // D device name memory_bytes compute_major compute_minor multiprocessors
  std::uint32_t ordinal, name;
  std::uint64_t memory_bytes;
  std::uint32_t compute_major, compute_minor, multiprocessors;
};

struct Op {  // O thread start duration name sequence (-1: none) backward graph
  std::uint64_t start, duration;
  std::uint32_t name;
  std::int64_t sequence;
  bool backward, graph;  // a node of the backward pass; makes one
};

struct Range {  // R thread start duration name category (wire::RangeCategory)
  std::uint64_t start, duration;
  std::uint32_t name, category;
};

struct Call {  // A thread runtime (or driver) start duration name correlation
  std::uint32_t thread;
  bool runtime;
  std::uint64_t start, duration;
  std::uint32_t name, correlation;
};

// K device stream start duration correlation name; C … correlation bytes way from to; M … correlation bytes;
// W … correlation
struct Work {
  char letter;
  std::uint32_t device, stream;
  std::uint64_t start, duration;
  std::uint32_t correlation, name;
  std::uint64_t bytes;
  std::uint32_t way, from, to;  // CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind
};

struct Thread {
  std::vector<Op> ops;  // as they end
  std::vector<Range> ranges;
};

struct Program {
  std::map<std::uint32_t, std::string> names;  // N number text
  std::vector<Device> devices;
  std::map<std::uint32_t, Thread> threads;
  std::vector<Call> calls;
  std::vector<Work> work;
  std::uint32_t trainer = 0;  // B thread warm start: where the first step begins; warm: warm-up is over
  bool warm = false;
  std::uint64_t begin = 0;
  std::vector<std::uint64_t> step_ends;  // E time
};

// Ends the process where the file is not of that form.
Program ReadProgram(const char* path);

}  // namespace loopscope::replay
