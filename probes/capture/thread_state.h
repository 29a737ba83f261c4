// What a thread reads and writes for every record: its clock and its place in the capture.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "probes/capture/thread_clock.h"
#include "probes/wire.h"

namespace loopscope::capture {

// The part of a thread's chunk that can be written immediately: pages that were touched before. Other records use the
// writer's slow path (Append).
struct WriteSpan {
  // What every record looks at comes first, in half a cache line.
  unsigned char* records = nullptr;  // of the chunk
  wire::ChunkHeader* header = nullptr;
  std::uint32_t used = 0;        // bytes
  std::uint32_t fast_end = 0;    // `used` may grow up to here at once
  std::uint32_t generation = 0;  // the chunk is ours only while the file's generation is this
  bool busy = false;             // a signal handler that records must not write into a half-written record
  bool unnamed = false;          // the thread's name is still to be written
  std::uint32_t capacity = 0;    // bytes of records that fit into the chunk
  std::uint64_t given_up = 0;    // bytes of records in the thread's chunks before this one
};
static_assert(offsetof(WriteSpan, unnamed) < 32);

inline constexpr std::uint32_t kPrefetchBytes = 512;  // ahead of what is written: some 15 ops

// Asks for a cache line that is written to soon. The helper touched the chunk last, often on another core: without this
// the first store into each line waits for that core, and with it the program's next locked instruction.
inline void PrefetchForWrite(const unsigned char* line) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*line));  // does nothing where the processor lacks it
#else
  __builtin_prefetch(line, 1);
#endif
}

// Writes records, given as words, where they fit at once; returns false where not.
template <std::size_t count>
[[gnu::always_inline]] inline bool AppendAtOnce(WriteSpan& span, const std::atomic<std::uint32_t>& generation,
                                                const std::array<std::uint64_t, count>& words) noexcept {
  constexpr std::uint32_t kBytes = count * 8;
  if (span.busy || span.used + kBytes > span.fast_end ||
      span.generation != generation.load(std::memory_order_relaxed)) {
    return false;
  }
  span.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  unsigned char* to = span.records + span.used;
#pragma GCC unroll 8
  for (const std::uint64_t word : words) {
    std::memcpy(to, &word, sizeof word);  // a word at a time, never through a copy on the stack
    to += sizeof word;
  }
  span.used += kBytes;
  PrefetchForWrite(to + kPrefetchBytes);
  std::atomic_ref<std::uint32_t>(span.header->used).store(span.used, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  span.busy = false;
  return true;
}

// The last half line of the clock and the first of the span share a cache line: an op's record looks at both.
struct alignas(64) ThreadState {
  std::byte before[64 + 32 - sizeof(ThreadClock)]{};
  ThreadClock clock;
  WriteSpan span;
};
static_assert(offsetof(ThreadState, span) == 64 + 32);

}  // namespace loopscope::capture
