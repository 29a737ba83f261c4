#include "probes/capture/recycler.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "probes/capture/crc32c.h"

namespace loopscope::capture {
namespace {

using wire::RecordKind;

constexpr std::uint32_t kRoom = wire::kChunkBytes - sizeof(wire::ChunkHeader);
static_assert(kRoom / 8 < 1u << wire::kCopiedShift);
constexpr std::uint32_t kScannedAtOnce = 64;

template <class T>
std::atomic_ref<T> Shared(T& value) noexcept {
  return std::atomic_ref<T>(value);
}

// An operator, or a device's work.
bool IsWork(RecordKind kind) noexcept {
  return kind == RecordKind::kOp || kind == RecordKind::kDevice || kind == RecordKind::kDeviceCall;
}

// Whether the record makes room for newer ones: work, and the ranges that go with it.
bool GivesWay(wire::RecordHead head, const unsigned char* at) noexcept {
  if (head.kind != RecordKind::kRange) return IsWork(head.kind);
  std::uint64_t duration_ns;
  std::memcpy(&duration_ns, at + offsetof(wire::RangeRecord, duration_ns), sizeof duration_ns);
  return wire::GoWithOperators(static_cast<wire::RangeCategory>(head.sub), duration_ns);
}

// Time of records that describe one moment; else UINT64_MAX.
std::uint64_t MomentOf(wire::RecordHead head, const unsigned char* at) noexcept {
  constexpr std::size_t kOffset = offsetof(wire::OpRecord, start_ns);
  static_assert(kOffset == offsetof(wire::DeviceRecord, start_ns) &&
                kOffset == offsetof(wire::DeviceCallRecord, start_ns) &&
                kOffset == offsetof(wire::RangeRecord, start_ns) && kOffset == offsetof(wire::MarkRecord, time_ns) &&
                kOffset == offsetof(wire::StepRecord, end_ns));
  const bool mark = head.kind == RecordKind::kMark && wire::IsOfMoment(static_cast<wire::MarkKind>(head.sub));
  std::uint64_t time_ns = UINT64_MAX;
  const bool timed = mark || head.kind == RecordKind::kRange || head.kind == RecordKind::kStep || IsWork(head.kind);
  if (timed) std::memcpy(&time_ns, at + kOffset, sizeof time_ns);
  return time_ns;
}

struct Stretch {
  std::uint64_t from_ns = UINT64_MAX, until_ns = 0;
  void Add(std::uint64_t time_ns) noexcept {
    from_ns = std::min(from_ns, time_ns);
    until_ns = std::max(until_ns, time_ns + 1);
  }
};

// Extends the stretch in the file's header to cover this one.
void Note(const Stretch& stretch, std::uint64_t& from_ns, std::uint64_t& until_ns) noexcept {
  if (stretch.until_ns == 0) return;
  auto from = Shared(from_ns), until = Shared(until_ns);
  std::uint64_t known = from.load();
  while ((known == 0 || stretch.from_ns < known) && !from.compare_exchange_weak(known, stretch.from_ns)) {
  }
  known = until.load();
  while (stretch.until_ns > known && !until.compare_exchange_weak(known, stretch.until_ns)) {
  }
}

}  // namespace

void Recycler::Start(unsigned char* base, std::uint32_t most_chunks) noexcept {
  base_ = base;
  most_chunks_ = most_chunks;
  Forked();
  kept_times.Start();
}

void Recycler::Forked() noexcept {
  for (std::uint32_t i = closed_begin_; i != closed_end_.load(); ++i) closed_[i % closed_.size()].store(0);
  closed_begin_ = closed_end_.load();
  target_ = reserve_ = 0;
  target_open_ = false;
  kept_chunks_ = kept_begin_ = kept_end_ = 0;
  start_until_ns_ = 0;
}

struct Recycler::Left {
  std::uint32_t kept_bytes = 0;
  Stretch work, moments;  // times of what gave way; of all dropped moments
  std::uint64_t steps = 0;
};

void Recycler::Closed(std::uint32_t chunk) noexcept {
  const std::uint32_t place = closed_end_.fetch_add(1, std::memory_order_relaxed);
  closed_[place % closed_.size()].store(chunk, std::memory_order_release);
}

wire::ChunkHeader* Recycler::At(std::uint32_t chunk) const noexcept {
  return reinterpret_cast<wire::ChunkHeader*>(base_ + wire::kHeaderBytes +
                                              (std::uint64_t{chunk} - 1) * wire::kChunkBytes);
}

// Treiber's stack; the change counter prevents the ABA problem.
std::uint32_t Recycler::TakeFree() noexcept {
  auto list = Shared(header()->free_chunks);
  std::uint64_t first = list.load(std::memory_order_acquire);
  for (;;) {
    const auto chunk = static_cast<std::uint32_t>(first);
    if (chunk == 0) return 0;
    const std::uint64_t next = Shared(At(chunk)->order).load(std::memory_order_relaxed);
    if (list.compare_exchange_weak(first, ((first >> 32) + 1) << 32 | next, std::memory_order_acquire)) {
      Shared(header()->free_count).fetch_sub(1, std::memory_order_relaxed);
      return chunk;
    }
  }
}

std::uint32_t Recycler::free_count() const noexcept {
  return Shared(header()->free_count).load(std::memory_order_relaxed);
}

void Recycler::Free(std::uint32_t chunk) noexcept {
  wire::ChunkHeader* header_of = At(chunk);
  Shared(header_of->used).store(0, std::memory_order_release);  // no longer valid from here on
  Shared(header_of->magic).store(0, std::memory_order_release);
  Shared(header_of->pid).store(0, std::memory_order_relaxed);
  Shared(header_of->copied).store(0, std::memory_order_release);
  auto list = Shared(header()->free_chunks);
  std::uint64_t first = list.load(std::memory_order_relaxed);
  do {
    Shared(header_of->order).store(static_cast<std::uint32_t>(first), std::memory_order_relaxed);
  } while (!list.compare_exchange_weak(first, ((first >> 32) + 1) << 32 | chunk, std::memory_order_release));
  Shared(header()->free_count).fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t Recycler::OldestClosed() noexcept {
  if (closed_begin_ == closed_end_.load(std::memory_order_relaxed)) return 0;
  const std::uint32_t chunk = closed_[closed_begin_ % closed_.size()].exchange(0, std::memory_order_acquire);
  if (chunk != 0) ++closed_begin_;
  return chunk;
}

// A chunk of a dead process, possibly unused. Only the process that made the file looks for them.
std::uint32_t Recycler::Abandoned() noexcept {
  const auto own = static_cast<std::uint32_t>(getpid());
  if (header()->pid != own) return 0;
  const std::uint32_t end = std::min(Shared(header()->next_chunk).load(), most_chunks_);
  for (std::uint32_t n = 0; n < kScannedAtOnce && n < end; ++n) {
    const std::uint32_t chunk = scanned_ = scanned_ % end + 1;
    const std::uint32_t pid = Shared(At(chunk)->pid).load(std::memory_order_relaxed);  // of any thread's
    if (pid == own || pid == 0) continue;
    if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return chunk;
  }
  return 0;
}

std::uint32_t Recycler::OldestKept() noexcept {
  --kept_chunks_;
  return kept_[kept_begin_++ % kept_.size()];
}

// A chunk full of kept records. The first ones hold the start of the run.
void Recycler::Stays(std::uint32_t chunk) noexcept {
  if (++kept_chunks_ > most_chunks_ / 4 || kept_end_ != 0) {
    kept_[kept_end_++ % kept_.size()] = chunk;
    return;
  }
  ForEach(At(chunk), false, [&](const unsigned char* record, std::uint32_t, wire::RecordHead head, bool) {
    const std::uint64_t time_ns = MomentOf(head, record);
    if (time_ns != UINT64_MAX) start_until_ns_ = std::max(start_until_ns_, time_ns + 1);
  });
}

// Calls `visit` with each record of a chunk, and whether it is kept. `thins`: keep no moments after the start.
template <class Visit>
void Recycler::ForEach(const wire::ChunkHeader* chunk, bool thins, const Visit& visit) const noexcept {
  const auto* records = reinterpret_cast<const unsigned char*>(chunk + 1);
  const std::uint32_t used = std::min(chunk->used, kRoom);
  bool kept = true;
  for (std::uint32_t at = 0; at + sizeof(wire::RecordHead) <= used;) {
    wire::RecordHead head;
    std::memcpy(&head, records + at, sizeof head);
    const std::uint32_t bytes = head.words * 8u;
    if (bytes == 0 || at + bytes > used) return;
    const std::uint64_t time_ns = MomentOf(head, records + at);
    if (thins && time_ns != UINT64_MAX) {
      kept = time_ns < start_until_ns_;
    } else if (GivesWay(head, records + at)) {
      kept = kept_times.Has(time_ns);
    } else if (head.kind != RecordKind::kOpDetail) {  // dropped with its operator
      kept = true;
    }
    visit(records + at, bytes, head, kept);
    at += bytes;
  }
}

Recycler::Left Recycler::LeftOf(const wire::ChunkHeader* chunk, bool thins) const noexcept {
  Left left;
  ForEach(chunk, thins, [&](const unsigned char* record, std::uint32_t bytes, wire::RecordHead head, bool kept) {
    if (kept) left.kept_bytes += bytes;
    if (kept || head.kind == RecordKind::kOpDetail) return;
    const std::uint64_t time_ns = MomentOf(head, record);
    if (GivesWay(head, record)) left.work.Add(time_ns);
    if (thins) left.moments.Add(time_ns);
    left.steps += head.kind == RecordKind::kStep;
  });
  return left;
}

// Makes room for `bytes` more; false if there is no further chunk.
bool Recycler::MakeTarget(const wire::ChunkHeader* from, std::uint32_t bytes) noexcept {
  if (target_open_ && At(target_)->used + bytes > kRoom) {
    if (reserve_ == 0) return false;
    wire::ChunkHeader* full = At(target_);
    full->crc32c = Crc32c(full + 1, full->used);
    Shared(full->closed).store(1, std::memory_order_release);
    Stays(target_);
    target_ = std::exchange(reserve_, 0);
    target_open_ = false;
  }
  if (target_open_) return true;
  wire::ChunkHeader* target = At(target_);
  target->type = wire::ChunkType::kRecords;
  target->closed = 0;
  Shared(target->pid).store(static_cast<std::uint32_t>(getpid()), std::memory_order_relaxed);
  target->tid = static_cast<std::uint32_t>(gettid());
  Shared(target->order).store(from->order, std::memory_order_relaxed);
  target->copied = 0;
  Shared(target->used).store(0);
  Shared(target->magic).store(wire::kChunkMagic, std::memory_order_release);
  target_open_ = true;
  return true;
}

// Copies all kept records into the target, which has room for them.
void Recycler::Copy(std::uint32_t chunk, bool thins) noexcept {
  wire::ChunkHeader* from = At(chunk);
  wire::ChunkHeader* target = At(target_);
  std::uint32_t used = target->used;
  Shared(from->copied).store(target_ << wire::kCopiedShift | used / 8, std::memory_order_release);
  auto* to = reinterpret_cast<unsigned char*>(target + 1);
  wire::OfThreadRecord thread{{RecordKind::kOfThread, 0, sizeof thread / 8}, from->pid, from->tid, 0};
  std::memcpy(to + used, &thread, sizeof thread);
  used += sizeof thread;
  ForEach(from, thins, [&](const unsigned char* record, std::uint32_t bytes, wire::RecordHead, bool kept) {
    if (!kept) return;
    std::memcpy(to + used, record, bytes);
    used += bytes;
  });
  Shared(target->used).store(used, std::memory_order_release);
}

bool Recycler::FreeOldest() noexcept {
  for (;;) {
    const bool thins = kept_chunks_ > most_chunks_ / 2 && kept_begin_ != kept_end_;
    std::uint32_t chunk = thins ? OldestKept() : OldestClosed();
    if (chunk == 0) chunk = Abandoned();
    if (chunk == 0) return false;
    wire::ChunkHeader* from = At(chunk);
    const Left left = LeftOf(from, thins);
    const std::uint32_t needed = left.kept_bytes + sizeof(wire::OfThreadRecord);
    if (needed > kRoom / 4 * 3) {  // nearly full: it stays, for good if nothing else could be dropped
      if (thins) {
        ++kept_chunks_;
      } else {
        Stays(chunk);
      }
      continue;
    }
    if (!MakeTarget(from, needed)) {
      ++kept_chunks_;
      return false;
    }
    Note(left.work, header()->left_out_from_ns, header()->left_out_until_ns);
    Note(left.moments, header()->skipped_from_ns, header()->skipped_until_ns);
    Shared(from->closed).store(0, std::memory_order_release);  // its checksum covers all records
    if (left.kept_bytes > 0) Copy(chunk, thins);
    Free(chunk);
    Shared(header()->skipped_steps).fetch_add(left.steps, std::memory_order_relaxed);
    if (reserve_ != 0) return true;
    reserve_ = TakeFree();
  }
}

void KeptTimes::Start() noexcept {
  count_.store(0);
  open_ = false;
  Set(true, 0);
}

void KeptTimes::Set(bool keep, std::uint64_t time_ns) noexcept {
  if (keep == open_) return;
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  if (!keep) {
    times_[count - 1].end_ns.store(time_ns, std::memory_order_relaxed);
  } else if (count == kMost) {
    return;
  } else {
    times_[count].begin_ns.store(time_ns, std::memory_order_relaxed);
    times_[count].end_ns.store(UINT64_MAX, std::memory_order_relaxed);
    count_.store(count + 1, std::memory_order_release);
  }
  open_ = keep;
}

bool KeptTimes::Has(std::uint64_t time_ns) const noexcept {
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  return std::any_of(times_.begin(), times_.begin() + count, [&](const Time& time) {
    return time_ns >= time.begin_ns.load(std::memory_order_relaxed) &&
           time_ns < time.end_ns.load(std::memory_order_relaxed);
  });
}

}  // namespace loopscope::capture
