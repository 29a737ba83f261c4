#include "probes/capture/writer.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "probes/capture/file.h"
#include "probes/capture/records.h"

namespace loopscope::capture {
namespace {

constexpr std::uint64_t kStallNs = 1'000'000;

constinit thread_local ThreadState mine;

std::atomic_ref<std::uint64_t> Counter(std::uint64_t& counter) noexcept {
  return std::atomic_ref<std::uint64_t>(counter);
}

void GiveUpChunk() noexcept {
  if (mine.span.header != nullptr && mine.span.generation == Generation()) CloseChunk(mine.span.header);
  mine.span.header = nullptr;
  mine.span.given_up += mine.span.used;
  mine.span.used = mine.span.fast_end = mine.span.capacity = 0;
}

// Closes a thread's chunk when the thread ends.
pthread_key_t ThreadEndKey() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    pthread_key_create(&made, [](void*) { GiveUpChunk(); });
    return made;
  }();
  return key;
}

bool NextChunk() noexcept {
  const std::uint32_t generation = Generation();
  GiveUpChunk();
  const Chunk chunk = TakeChunk();
  if (chunk.header == nullptr) return false;
  chunk.header->type = wire::ChunkType::kRecords;
  std::atomic_ref<std::uint32_t>(chunk.header->pid)
      .store(static_cast<std::uint32_t>(getpid()), std::memory_order_relaxed);
  chunk.header->tid = static_cast<std::uint32_t>(gettid());
  std::atomic_ref<std::uint32_t>(chunk.header->magic).store(wire::kChunkMagic, std::memory_order_release);
  if (mine.span.generation != generation) mine.span.unnamed = true;
  mine.span.header = chunk.header;
  mine.span.records = chunk.records;
  mine.span.capacity = chunk.capacity;
  mine.span.generation = generation;
  pthread_setspecific(ThreadEndKey(), &mine.span);
  return true;
}

bool Fits(std::size_t bytes) noexcept {
  return mine.span.generation == Generation() && mine.span.used + bytes <= mine.span.capacity;
}

void Copy(const void* records, std::size_t bytes, const void* tail, std::size_t tail_bytes,
          std::size_t total) noexcept {
  unsigned char* to = mine.span.records + mine.span.used;
  std::memcpy(to, records, bytes);
  if (tail_bytes > 0) std::memcpy(to + bytes, tail, tail_bytes);
  if (bytes + tail_bytes < total) std::memset(to + bytes + tail_bytes, 0, total - bytes - tail_bytes);
  mine.span.used += static_cast<std::uint32_t>(total);
  std::atomic_ref<std::uint32_t>(mine.span.header->used).store(mine.span.used, std::memory_order_release);
}

// The rest of the page that was just written can be written at once.
void OpenFastEnd() noexcept {
  constexpr std::uint32_t kPage = 4096, kHead = sizeof(wire::ChunkHeader);
  const std::uint32_t page_end = ((mine.span.used + kHead) | (kPage - 1)) + 1 - kHead;
  mine.span.fast_end = std::min(page_end, mine.span.capacity);
}

// The path that may touch a page for the first time or change the chunk: the only one that can stall.
bool AppendSlowly(const void* records, std::size_t bytes, const void* tail, std::size_t tail_bytes,
                  std::size_t total) noexcept {
  const std::uint64_t begin = NowNs();
  const bool written = Fits(total) || (NextChunk() && Fits(total));
  if (written) {
    Copy(records, bytes, tail, tail_bytes, total);
    OpenFastEnd();
  }
  if (!written) Counter(Header()->dropped).fetch_add(1, std::memory_order_relaxed);
  if (NowNs() - begin > kStallNs) Counter(Header()->stalls_over_1ms).fetch_add(1, std::memory_order_relaxed);
  return written;
}

void NameThread() noexcept {
  mine.span.unnamed = false;
  char name[32] = "";
  if (pthread_getname_np(pthread_self(), name, sizeof name) == 0) WriteMark(wire::MarkKind::kThreadName, name);
}

}  // namespace

std::uint64_t NowNs() noexcept {
  return mine.clock.NowNs();
}

int Open(const char* path, const Options& options) noexcept {
  return OpenFile(path, options);
}

void Close(bool clean) noexcept {
  if (IsOpen() && !mine.span.busy) GiveUpChunk();
  CloseFile(clean);
}

ThreadState& CurrentThread() noexcept {
  return mine;
}
std::uint64_t ThreadBytes() noexcept {
  return mine.span.given_up + mine.span.used;
}

bool Append(const void* records, std::size_t bytes, const void* tail, std::size_t tail_bytes) noexcept {
  if (!IsOpen()) return false;  // switched off for good: the capture ends there and says why, it has no holes
  if (mine.span.busy) {
    Counter(Header()->dropped).fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  mine.span.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::size_t total = (bytes + tail_bytes + 7) & ~std::size_t{7};
  const bool at_once = mine.span.used + total <= mine.span.fast_end && mine.span.generation == Generation();
  bool written = true;
  if (at_once) {
    Copy(records, bytes, tail, tail_bytes, total);
  } else {
    written = AppendSlowly(records, bytes, tail, tail_bytes, total);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  mine.span.busy = false;
  if (mine.span.unnamed && !HoldsStrings()) NameThread();
  return written;
}

}  // namespace loopscope::capture
