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

constinit thread_local WriteSpan state;
constinit thread_local ThreadClock thread_clock;

std::atomic_ref<std::uint64_t> Counter(std::uint64_t& counter) noexcept {
  return std::atomic_ref<std::uint64_t>(counter);
}

void GiveUpChunk() noexcept {
  if (state.header != nullptr && state.generation == Generation()) CloseChunk(state.header);
  state.header = nullptr;
  state.given_up += state.used;
  state.used = state.fast_end = state.capacity = 0;
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
  if (state.generation != generation) state.unnamed = true;
  state.header = chunk.header;
  state.records = chunk.records;
  state.capacity = chunk.capacity;
  state.generation = generation;
  pthread_setspecific(ThreadEndKey(), &state);
  return true;
}

bool Fits(std::size_t bytes) noexcept {
  return state.generation == Generation() && state.used + bytes <= state.capacity;
}

void Copy(const void* records, std::size_t bytes, const void* tail, std::size_t tail_bytes,
          std::size_t total) noexcept {
  unsigned char* to = state.records + state.used;
  std::memcpy(to, records, bytes);
  if (tail_bytes > 0) std::memcpy(to + bytes, tail, tail_bytes);
  if (bytes + tail_bytes < total) std::memset(to + bytes + tail_bytes, 0, total - bytes - tail_bytes);
  state.used += static_cast<std::uint32_t>(total);
  std::atomic_ref<std::uint32_t>(state.header->used).store(state.used, std::memory_order_release);
}

// The rest of the page that was just written can be written at once.
void OpenFastEnd() noexcept {
  constexpr std::uint32_t kPage = 4096, kHead = sizeof(wire::ChunkHeader);
  const std::uint32_t page_end = ((state.used + kHead) | (kPage - 1)) + 1 - kHead;
  state.fast_end = std::min(page_end, state.capacity);
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
  state.unnamed = false;
  char name[32] = "";
  if (pthread_getname_np(pthread_self(), name, sizeof name) == 0) WriteMark(wire::MarkKind::kThreadName, name);
}

}  // namespace

ThreadClock& CurrentThreadClock() noexcept {
  return thread_clock;
}
std::uint64_t NowNs() noexcept {
  return thread_clock.NowNs();
}

int Open(const char* path, const Options& options) noexcept {
  return OpenFile(path, options);
}

void Close(bool clean) noexcept {
  if (IsOpen() && !state.busy) GiveUpChunk();
  CloseFile(clean);
}

WriteSpan& ThreadSpan() noexcept {
  return state;
}
std::uint64_t ThreadBytes() noexcept {
  return state.given_up + state.used;
}

bool Append(const void* records, std::size_t bytes, const void* tail, std::size_t tail_bytes) noexcept {
  if (!IsOpen()) return false;  // switched off for good: the capture ends there, with the reason, and has no holes
  if (state.busy) {
    Counter(Header()->dropped).fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  state.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::size_t total = (bytes + tail_bytes + 7) & ~std::size_t{7};
  const bool at_once = state.used + total <= state.fast_end && state.generation == Generation();
  bool written = true;
  if (at_once) {
    Copy(records, bytes, tail, tail_bytes, total);
  } else {
    written = AppendSlowly(records, bytes, tail, tail_bytes, total);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  state.busy = false;
  if (state.unnamed && !HoldsStrings()) NameThread();
  return written;
}

}  // namespace loopscope::capture
