// Supplies chunks: the file grows by one, up to its limit; from there on the oldest are recycled.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "probes/capture/disk.h"
#include "probes/capture/recycler.h"

namespace loopscope::capture {

// Chunks are given by their number + 1, 0 is none.
class ChunkSupply {
 public:
  void Start(DiskFile& disk) noexcept;  // the file holds its header

  // By any thread: returns one more chunk, or 0 and sets `error` to an errno. At the limit it frees the oldest, which
  // takes about 50 us. 0 without an error: there may be one later.
  std::uint32_t Make(int& error) noexcept;
  // Keeps some chunks free at the limit for processes that share the file, which cannot free others' chunks.
  void FreeForOthers() noexcept;

  void Closed(const wire::ChunkHeader* chunk) noexcept;  // released by its thread
  void Forked() noexcept;                                // in the child
  void KeepOperators(bool keep, std::uint64_t time_ns) noexcept { recycler_.kept_times.Set(keep, time_ns); }

  bool at_limit() const noexcept;
  unsigned MostReady(unsigned wanted) const noexcept;  // in a small file only a part is kept ready

 private:
  std::uint32_t FreeOrGrown(int& error) noexcept;
  std::uint32_t Grow(std::uint32_t most, int& error) noexcept;
  bool FreeOne() noexcept;

  DiskFile* disk_ = nullptr;
  pthread_mutex_t recycling_ = PTHREAD_MUTEX_INITIALIZER;  // only try_lock: never waited for
  Recycler recycler_;
  std::uint32_t most_chunks_ = 0;  // without the recycler's own
  bool recycles_ = false;
};

}  // namespace loopscope::capture
