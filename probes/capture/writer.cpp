#include "probes/capture/writer.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "probes/capture/file.h"
#include "probes/capture/records.h"

namespace loopscope::capture {
namespace {

constexpr std::uint64_t kStallNs = 1'000'000;

struct ThreadState {
  Chunk chunk;
  std::uint32_t used = 0;
  std::uint32_t generation = 0;
  bool busy = false;  // a signal handler that records must not enter a record half written
  bool unnamed = false;
};
constinit thread_local ThreadState state;

std::atomic_ref<std::uint64_t> Counter(std::uint64_t& counter) noexcept {
  return std::atomic_ref<std::uint64_t>(counter);
}

void GiveUpChunk() noexcept {
  if (state.chunk.header != nullptr && state.generation == Generation()) CloseChunk(state.chunk.header);
  state.chunk = {};
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
  state.used = 0;
  state.chunk = TakeChunk();
  if (state.chunk.header == nullptr) return false;
  wire::ChunkHeader* header = state.chunk.header;
  header->type = wire::ChunkType::kRecords;
  header->pid = static_cast<std::uint32_t>(getpid());
  header->tid = static_cast<std::uint32_t>(gettid());
  std::atomic_ref<std::uint32_t>(header->magic).store(wire::kChunkMagic, std::memory_order_release);
  if (state.generation != generation) state.unnamed = true;
  state.generation = generation;
  pthread_setspecific(ThreadEndKey(), &state);
  return true;
}

bool Fits(std::size_t bytes) noexcept {
  return state.generation == Generation() && state.chunk.header != nullptr &&
         state.used + bytes <= state.chunk.capacity;
}

void Copy(const void* records, std::size_t bytes, const void* tail, std::size_t tail_bytes,
          std::size_t total) noexcept {
  unsigned char* to = state.chunk.records + state.used;
  std::memcpy(to, records, bytes);
  if (tail_bytes > 0) std::memcpy(to + bytes, tail, tail_bytes);
  if (bytes + tail_bytes < total) std::memset(to + bytes + tail_bytes, 0, total - bytes - tail_bytes);
  state.used += static_cast<std::uint32_t>(total);
  std::atomic_ref<std::uint32_t>(state.chunk.header->used).store(state.used, std::memory_order_release);
}

// The path that may touch a page for the first time or change the chunk: the only one that can stall.
bool AppendSlowly(const void* records, std::size_t bytes, const void* tail, std::size_t tail_bytes,
                  std::size_t total) noexcept {
  const std::uint64_t begin = NowNs();
  const bool written = Fits(total) || (NextChunk() && Fits(total));
  if (written) Copy(records, bytes, tail, tail_bytes, total);
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

std::uint64_t NowNs() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

int Open(const char* path, const Options& options) noexcept {
  return OpenFile(path, options);
}

void Close(bool clean) noexcept {
  if (IsOpen() && !state.busy) GiveUpChunk();
  CloseFile(clean);
}

bool Append(const void* records, std::size_t bytes, const void* tail, std::size_t tail_bytes) noexcept {
  if (!IsOpen()) {
    if (OffReason() != nullptr) Counter(Header()->dropped).fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (state.busy) {
    Counter(Header()->dropped).fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  state.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::size_t total = (bytes + tail_bytes + 7) & ~std::size_t{7};
  const bool same_page = Fits(total) && ((state.used ^ (state.used + total)) >> 12) == 0;
  bool written = true;
  if (same_page) {
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
