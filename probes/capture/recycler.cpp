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

// Of an operator or a device's work; these have their start at the same place.
bool HasStart(RecordKind kind) noexcept {
  return kind == RecordKind::kOp || kind == RecordKind::kDevice || kind == RecordKind::kDeviceCall;
}
std::uint64_t StartOf(const unsigned char* at) noexcept {
  static_assert(offsetof(wire::OpRecord, start_ns) == offsetof(wire::DeviceRecord, start_ns));
  static_assert(offsetof(wire::OpRecord, start_ns) == offsetof(wire::DeviceCallRecord, start_ns));
  std::uint64_t start_ns;
  std::memcpy(&start_ns, at + offsetof(wire::OpRecord, start_ns), sizeof start_ns);
  return start_ns;
}

}  // namespace

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
  kept_chunks_ = 0;
}

void Recycler::Closed(std::uint32_t chunk) noexcept {
  const std::uint32_t place = closed_end_.fetch_add(1, std::memory_order_relaxed);
  closed_[place % closed_.size()].store(chunk, std::memory_order_release);
}

wire::ChunkHeader* Recycler::At(std::uint32_t chunk) const noexcept {
  return reinterpret_cast<wire::ChunkHeader*>(base_ + wire::kHeaderBytes +
                                              (std::uint64_t{chunk} - 1) * wire::kChunkBytes);
}

// Treiber's stack; the number of changes keeps a chunk that came back from passing for one that never left.
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
  Shared(header_of->used).store(0, std::memory_order_release);  // from here on it counts no more
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

// A chunk of a process that is gone, perhaps one that it never used. Only the process that made the file looks for
// them.
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

// Calls `visit` with each record of a chunk, and whether it is kept.
template <class Visit>
void Recycler::ForEachKept(const wire::ChunkHeader* chunk, const Visit& visit) const noexcept {
  const auto* records = reinterpret_cast<const unsigned char*>(chunk + 1);
  const std::uint32_t used = std::min(chunk->used, kRoom);
  bool kept = true;
  for (std::uint32_t at = 0; at + sizeof(wire::RecordHead) <= used;) {
    wire::RecordHead head;
    std::memcpy(&head, records + at, sizeof head);
    const std::uint32_t bytes = head.words * 8u;
    if (bytes == 0 || at + bytes > used) return;
    if (HasStart(head.kind)) {
      kept = kept_times.Has(StartOf(records + at));
    } else if (head.kind != RecordKind::kOpDetail) {  // that goes with its operator
      kept = true;
    }
    visit(records + at, bytes, head.kind, kept);
    at += bytes;
  }
}

void Recycler::NoteLeftOut(std::uint64_t from_ns, std::uint64_t until_ns) noexcept {
  auto from = Shared(header()->left_out_from_ns), until = Shared(header()->left_out_until_ns);
  std::uint64_t known = from.load();
  while ((known == 0 || from_ns < known) && !from.compare_exchange_weak(known, from_ns)) {
  }
  known = until.load();
  while (until_ns > known && !until.compare_exchange_weak(known, until_ns)) {
  }
}

void Recycler::OpenTarget(const wire::ChunkHeader* from) noexcept {
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
}

// Into the target, where there is room for all that is kept.
void Recycler::Copy(std::uint32_t chunk) noexcept {
  wire::ChunkHeader* from = At(chunk);
  wire::ChunkHeader* target = At(target_);
  std::uint32_t used = target->used;
  Shared(from->copied).store(target_ << wire::kCopiedShift | used / 8, std::memory_order_release);
  auto* to = reinterpret_cast<unsigned char*>(target + 1);
  wire::OfThreadRecord thread{{RecordKind::kOfThread, 0, sizeof thread / 8}, from->pid, from->tid, 0};
  std::memcpy(to + used, &thread, sizeof thread);
  used += sizeof thread;
  ForEachKept(from, [&](const unsigned char* record, std::uint32_t bytes, RecordKind, bool kept) {
    if (!kept) return;
    std::memcpy(to + used, record, bytes);
    used += bytes;
  });
  Shared(target->used).store(used, std::memory_order_release);
}

bool Recycler::FreeOldest() noexcept {
  for (;;) {
    std::uint32_t chunk = OldestClosed();
    if (chunk == 0) chunk = Abandoned();
    if (chunk == 0) return false;
    wire::ChunkHeader* from = At(chunk);
    std::uint32_t kept_bytes = 0;
    std::uint64_t first_ns = UINT64_MAX, last_ns = 0;
    ForEachKept(from, [&](const unsigned char* record, std::uint32_t bytes, RecordKind kind, bool kept) {
      if (kept) kept_bytes += bytes;
      if (kept || !HasStart(kind)) return;
      first_ns = std::min(first_ns, StartOf(record));
      last_ns = std::max(last_ns, StartOf(record));
    });
    const std::uint32_t needed = kept_bytes + sizeof(wire::OfThreadRecord);
    if (needed > kRoom / 4 * 3) {  // as good as full: it stays
      ++kept_chunks_;
      continue;
    }
    if (target_open_ && At(target_)->used + needed > kRoom) {
      if (reserve_ == 0) {
        ++kept_chunks_;
        return false;
      }
      wire::ChunkHeader* full = At(target_);
      full->crc32c = Crc32c(full + 1, full->used);
      Shared(full->closed).store(1, std::memory_order_release);
      target_ = std::exchange(reserve_, 0);
      target_open_ = false;
      ++kept_chunks_;
    }
    if (!target_open_) OpenTarget(from);
    if (last_ns != 0) NoteLeftOut(first_ns, last_ns + 1);
    Shared(from->closed).store(0, std::memory_order_release);  // its sum is that of all records
    if (kept_bytes > 0) Copy(chunk);
    Free(chunk);
    if (reserve_ != 0) return true;
    reserve_ = TakeFree();
  }
}

}  // namespace loopscope::capture
