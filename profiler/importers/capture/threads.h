// Turns the records of one thread into its events in start order, parents before children.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/core/trace/trace.h"
#include "profiler/importers/capture/file.h"

namespace loopscope {

class LeftOut;

// How the ids of one file become the ids of the trace. Ids that the file never defined become "none".
struct IdMap {
  std::uint32_t first_string = 0, strings = 0;  // file id 1 is trace id first_string + 1
  std::uint32_t first_stack = 0, stacks = 0;    // file id 1 is trace index first_stack

  StringId String(std::uint32_t id) const { return id <= strings && id > 0 ? first_string + id : 0; }
  std::uint32_t Stack(std::uint32_t id) const { return id <= stacks && id > 0 ? first_stack + id - 1 : kNone; }
};

struct ThreadChunks {
  std::uint32_t pid = 0, tid = 0;
  std::vector<ChunkView> chunks;  // as the thread filled them
};

// The chunks of each thread, in the order of their first times, threads in the order of their first chunks.
std::vector<ThreadChunks> GroupByThread(const std::vector<ChunkView>& chunks);

struct ThreadEvents {
  Thread thread;
  std::vector<EventDetail> details;  // Event::detail counts from 0 here; for a range it is the index of its stack
  std::vector<std::uint32_t> further_producers;  // of the details, which count from 0 here
  std::vector<Mark> marks;                       // Mark::thread is not set
  std::vector<StepRecord> steps;                 // StepRecord::thread is not set
  std::uint64_t repaired = 0;  // events with impossible times: the end was set to the start, or they were left out
};

// Linear in the number of records, except for threads whose records are out of order.
ThreadEvents ReadThread(const ThreadChunks& chunks, const IdMap& ids, const LeftOut& left_out);

}  // namespace loopscope
