// When the capture cannot grow further, its oldest chunks are recycled: definitions, ranges, marks and facts of a chunk
// are first copied into another one; its operators and device work are dropped unless marked to be kept. Once half of
// the capture holds such copies, the oldest of them (but not the first) are dropped too, except for definitions and
// facts: a training of hours keeps its start and its newest steps. A process that is killed at any instant leaves each
// record that is kept readable once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "probes/wire.h"

namespace loopscope::capture {

// Time ranges whose operators are never evicted.

// Operators are kept from the start on, and in ranges that the caller opens.
class KeptTimes {
 public:
  void Start() noexcept;
  void Set(bool keep, std::uint64_t time_ns) noexcept;  // from `time_ns` on; one thread at a time
  bool Has(std::uint64_t time_ns) const noexcept;

 private:
  static constexpr std::uint32_t kMost = 64;  // later ones are not kept
  struct Time {
    std::atomic<std::uint64_t> begin_ns{0}, end_ns{0};
  };
  std::array<Time, kMost> times_{};
  std::atomic<std::uint32_t> count_{0};
  bool open_ = false;
};

// One per process; chunks are given by their number + 1, 0 is none.
class Recycler {
 public:
  // `base` is where the file is mapped; it holds `most_chunks`, and kOwnChunks more that are the recycler's own.
  static constexpr std::uint32_t kOwnChunks = 2;
  void Start(unsigned char* base, std::uint32_t most_chunks) noexcept;
  void Forked() noexcept;  // in the child: the parent's chunks are not ours

  void Closed(std::uint32_t chunk) noexcept;  // by any thread, in the order of closing
  std::uint32_t TakeFree() noexcept;          // by any thread of any process

  // By one thread at a time: frees a chunk; false if there is none. `own_chunk` makes one for the recycler.
  template <class Make>
  bool FreeOne(const Make& own_chunk) noexcept {
    if (target_ == 0) target_ = own_chunk();
    if (reserve_ == 0) reserve_ = own_chunk();
    return target_ != 0 && FreeOldest();
  }
  bool KeepsTooMuch() const noexcept { return kept_chunks_ > most_chunks_ / 4 * 3; }
  std::uint32_t free_count() const noexcept;

  KeptTimes kept_times;

 private:
  wire::FileHeader* header() const noexcept { return reinterpret_cast<wire::FileHeader*>(base_); }
  wire::ChunkHeader* At(std::uint32_t chunk) const noexcept;
  std::uint32_t OldestClosed() noexcept;
  std::uint32_t OldestKept() noexcept;
  void Stays(std::uint32_t chunk) noexcept;
  std::uint32_t Abandoned() noexcept;
  bool FreeOldest() noexcept;
  struct Left;  // the kept part of a chunk
  template <class Visit>
  void ForEach(const wire::ChunkHeader* chunk, bool thins, const Visit& visit) const noexcept;
  Left LeftOf(const wire::ChunkHeader* chunk, bool thins) const noexcept;
  bool MakeTarget(const wire::ChunkHeader* from, std::uint32_t bytes) noexcept;
  void Copy(std::uint32_t chunk, bool thins) noexcept;
  void Free(std::uint32_t chunk) noexcept;

  unsigned char* base_ = nullptr;
  std::uint32_t most_chunks_ = 0, kept_chunks_ = 0;
  std::uint32_t target_ = 0, reserve_ = 0;  // kept records are copied into the first, then into the second
  bool target_open_ = false;
  std::uint32_t scanned_ = 0;  // chunks of the file checked for a dead process
  std::array<std::atomic<std::uint32_t>, wire::kMaxCopiedChunks> closed_{};  // a ring
  std::atomic<std::uint32_t> closed_end_{0};
  std::uint32_t closed_begin_ = 0;
  std::array<std::uint32_t, wire::kMaxCopiedChunks> kept_{};  // a ring: chunks with kept records, without the first
  std::uint32_t kept_begin_ = 0, kept_end_ = 0;
  std::uint64_t start_until_ns_ = 0;  // moments before this stay
};

}  // namespace loopscope::capture
