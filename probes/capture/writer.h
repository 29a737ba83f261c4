// The capture writer: puts the probes' records into one mapped file per program (format: probes/wire.h).
// What was written survives the process. No call throws, waits for another thread's disk, or fails training: when
// there is no room a record is dropped and counted, and when the disk is full the writer switches itself off.
#pragma once

#include <cstddef>
#include <cstdint>

#include "probes/capture/thread_state.h"
#include "probes/wire.h"

namespace loopscope::capture {

struct Options {
  // The file's size limit. From there on the newest operators and device work replace the oldest; if other records
  // alone fill it, or if it is below 4 MiB, the writer switches itself off.
  std::uint64_t limit_bytes = 4ull << 30;
  // Kept allocated and pre-faulted ahead of need, 1 to 256; grows with demand. 64 are 4 MiB: what a busy loop records
  // in a second or more, so a disk may stall for that long.
  unsigned ready_chunks = 64;
  // No helper thread before AllowHelper(): a single-threaded program may fork or enter a new namespace.
  // Until then, and for a moment after each fork, the recording thread makes the chunks.
  bool alone_at_first = false;
};

// Makes the file `path` (which must not exist; mode 0600) and starts the helper thread. Returns 0 or an errno. One
// file at a time per process; a forked child goes on writing to its parent's file, in its own chunks.
int Open(const char* path, const Options& options = {}) noexcept;

// From here on the helper thread may run. Cheap after the first call.
void AllowHelper() noexcept;

// Ends writing for this process; with `clean`, the file is marked as complete. Other threads' records made
// meanwhile are lost or kept whole.
void Close(bool clean) noexcept;

// Appends whole records to this thread's chunk, together or not at all: `bytes` bytes at `records`, then `tail_bytes`
// at `tail`, then zeros up to a multiple of 8; at most 60 KiB. Returns whether they were written.
bool Append(const void* records, std::size_t bytes, const void* tail = nullptr, std::size_t tail_bytes = 0) noexcept;

// Operators and device work from `time_ns` on are never evicted (`keep`), or may be. Initially kept.
void KeepOperators(bool keep, std::uint64_t time_ns) noexcept;

// For AppendAtOnce, and the clock of this thread: all its times come from it. The address holds as long as the thread.
ThreadState& CurrentThread() noexcept;

// Bytes of records that this thread has written so far.
std::uint64_t ThreadBytes() noexcept;

// CLOCK_MONOTONIC in nanoseconds, by this thread's clock.
std::uint64_t NowNs() noexcept;

}  // namespace loopscope::capture
