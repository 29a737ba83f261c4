#include "probes/capture/file.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "probes/capture/chunk_supply.h"
#include "probes/capture/crc32c.h"
#include "probes/capture/disk.h"
#include "probes/capture/ready_chunks.h"
#include "probes/capture/records.h"

namespace loopscope::capture {
namespace {

constexpr std::size_t kHelperStackBytes = 512 * 1024;
// Python looks at the number of threads just after a fork.
constexpr std::uint64_t kAloneAfterForkNs = 50'000'000;
constexpr long kFreeForOthersEveryNs = 20'000'000;
// Time that recording threads may spend in total on making chunks when the helper is late: a chunk takes about 10 us,
// or as long as the disk stalls. Beyond this records are dropped.
constexpr std::uint64_t kOwnChunksNs = 100'000'000, kOwnChunksShare = 50;  // 0.1 s, and 1/50 of the time passed

// One per process, never destroyed: threads may write until the very end.
struct File {
  std::atomic<bool> on{false};
  std::atomic<std::uint32_t> generation{0};
  std::atomic<const char*> off_reason{nullptr};
  std::atomic<bool> exhausting{false};  // no further chunk is available, being recorded
  std::atomic<bool> exhausted{false};   // and recorded; ready chunks are still used
  DiskFile disk;
  ChunkSupply supply;

  ReadyChunks ready;
  ReadyChunks::Slot spare{0};  // reserved to record that there are no more
  std::atomic<bool> asked{false};
  sem_t wanted{};
  pthread_t helper{};
  std::atomic<bool> helper_runs{false};
  std::atomic<bool> may_help{false};        // not before the program trains
  std::atomic<std::uint64_t> forked_ns{0};  // time of the last fork; 0: none
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> own_chunks_ns{0};  // spent by recording threads on making chunks
  std::atomic<std::uint32_t> number{0};         // of the files that this process opened
  bool forked = false;
};
File file;
constinit thread_local bool takes_spare = false;

// The thread's last chunk, its number + 1, and the file that it was in.
struct LastTaken {
  std::uint32_t file = 0, chunk = 0;
};
constinit thread_local LastTaken last_taken;

template <class T>
std::atomic_ref<T> Shared(T& counter) noexcept {
  return std::atomic_ref<T>(counter);
}

wire::ChunkHeader* ChunkAt(std::uint32_t index) noexcept {
  return reinterpret_cast<wire::ChunkHeader*>(file.disk.base() + wire::kHeaderBytes +
                                              std::uint64_t{index} * wire::kChunkBytes);
}

Chunk Opened(std::uint32_t index) noexcept {
  wire::ChunkHeader* header = ChunkAt(index);
  // A thread that sees it as the next free chunk finds that it came too late.
  Shared(header->order).store(Shared(Header()->next_order).fetch_add(1, std::memory_order_relaxed) + 1);
  return {header, reinterpret_cast<unsigned char*>(header + 1),
          wire::kChunkBytes - static_cast<std::uint32_t>(sizeof *header)};
}

// There will be no further chunk: record that while there is room.
void Exhaust(const char* reason) noexcept {
  if (file.exhausting.exchange(true)) return;
  file.off_reason.store(reason);
  takes_spare = true;
  WriteMark(wire::MarkKind::kProbeOff, reason);
  takes_spare = false;
  file.exhausted.store(true, std::memory_order_release);
}

void SwitchOff() noexcept {
  if (!file.on.exchange(false)) return;
  file.generation.fetch_add(1);
  char line[4096 + 256];
  const int length = std::snprintf(line, sizeof line, "loopscope: %s; recording stops here, training goes on (%s)\n",
                                   file.off_reason.load(), file.disk.path());
  if (length > 0 && write(STDERR_FILENO, line, std::min<std::size_t>(length, sizeof line - 1)) < 0) return;
}

// Puts one more chunk into `slot` if possible now; returns false if there will be none.
bool Provide(ReadyChunks::Slot& slot) noexcept {
  int error = 0;
  const std::uint32_t made = file.supply.Make(error);
  if (error != 0) {
    Exhaust(ReasonFor(error));
    return false;
  }
  if (made != 0) Shared(ChunkAt(made - 1)->pid).store(static_cast<std::uint32_t>(getpid()));  // even if never used
  slot.store(made, std::memory_order_release);
  return true;
}

// The helper did not run in time, as on a machine with more threads than processors. A lost record makes every answer
// about the run uncertain, so the recording thread makes the chunk while that is cheap; else returns 0. Detecting and
// reporting the end of chunks is left to the helper.
std::uint32_t OwnChunk() noexcept {
  const std::uint64_t begin = KernelNs();
  const std::uint64_t allowed = kOwnChunksNs + (begin - Header()->start_mono_ns) / kOwnChunksShare;
  if (file.own_chunks_ns.load(std::memory_order_relaxed) > allowed) return 0;
  int error = 0;
  const std::uint32_t made = file.supply.Make(error);
  file.own_chunks_ns.fetch_add(KernelNs() - begin, std::memory_order_relaxed);
  return made;
}

bool FillReady() noexcept {
  return file.ready.FillEmpty([](ReadyChunks::Slot& slot) {
    const bool ended = file.exhausted.load(std::memory_order_relaxed) || file.stop.load(std::memory_order_relaxed);
    return !ended && Provide(slot);
  });
}

void* HelperMain(void*) noexcept {
  pthread_setname_np(pthread_self(), "loopscope");
  // Waking up must not preempt the recording thread.
  const sched_param priority{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &priority);
  while (!file.stop.load(std::memory_order_acquire)) {
    file.asked.store(false, std::memory_order_seq_cst);
    if (!FillReady()) break;
    if (!file.forked || !file.supply.at_limit()) {
      while (sem_wait(&file.wanted) != 0 && errno == EINTR) {
      }
      continue;
    }
    // Only this helper frees chunks for the processes that share the file, which cannot ask for it.
    file.supply.FreeForOthers();
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += kFreeForOthersEveryNs;
    until.tv_sec += until.tv_nsec / 1'000'000'000;
    until.tv_nsec %= 1'000'000'000;
    while (sem_timedwait(&file.wanted, &until) != 0 && errno == EINTR) {
    }
  }
  return nullptr;
}

// The program's signals must never be delivered to the helper.
void StartHelper() noexcept {
  if (!file.may_help.load(std::memory_order_relaxed)) return;
  const std::uint64_t forked_ns = file.forked_ns.load(std::memory_order_relaxed);
  if (forked_ns != 0 && KernelNs() - forked_ns < kAloneAfterForkNs) return;
  bool expected = false;
  if (!file.helper_runs.compare_exchange_strong(expected, true)) return;
  file.stop.store(false);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kHelperStackBytes);
  const int error = pthread_create(&file.helper, &attributes, HelperMain, nullptr);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) file.helper_runs.store(false);
}

void StopHelper() noexcept {
  if (!file.helper_runs.load()) return;
  file.stop.store(true, std::memory_order_release);
  sem_post(&file.wanted);
  pthread_join(file.helper, nullptr);
  file.helper_runs.store(false);
}

// Python warns programs that fork with several threads, and they cannot unshare their user namespace.
void BeforeFork() noexcept {
  StopHelper();
  // The helper's work for processes that share a full file, until it runs again.
  if (file.on.load(std::memory_order_relaxed)) file.supply.FreeForOthers();
  LockStrings();
}

void InChild() noexcept {
  file.forked_ns.store(KernelNs());
  file.ready.Drain([](std::uint32_t) {});
  file.spare.store(0);
  file.supply.Forked();
  file.generation.fetch_add(1);
  file.helper_runs.store(false);
  file.asked.store(false);
  file.forked = true;
  sem_init(&file.wanted, 0, 0);
  UnlockStrings();
}

void InParent() noexcept {
  file.forked_ns.store(KernelNs());
  file.forked = true;
  UnlockStrings();
}

// Frees the disk space of ready chunks that were never used.
void GiveBackUnused() noexcept {
  constexpr std::uint32_t kMost = ReadyChunks::kMax * 2;
  bool unused[kMost] = {};
  auto next = Shared(Header()->next_chunk);
  const std::uint32_t end = next.load();
  const std::uint32_t from = end > kMost ? end - kMost : 0;
  const auto drop = [&](std::uint32_t chunk) {
    if (chunk > from) unused[chunk - 1 - from] = true;
  };
  file.ready.Drain(drop);
  drop(file.spare.exchange(0));
  std::uint32_t used_end = end;
  while (used_end > from && unused[used_end - 1 - from]) --used_end;
  if (file.forked || used_end == end) return;
  if (file.disk.Shorten(wire::kHeaderBytes + std::uint64_t{used_end} * wire::kChunkBytes)) next.store(used_end);
}

}  // namespace

wire::FileHeader* Header() noexcept {
  return reinterpret_cast<wire::FileHeader*>(file.disk.base());
}
std::uint32_t Generation() noexcept {
  return file.generation.load(std::memory_order_relaxed);
}
const std::atomic<std::uint32_t>& FileGeneration() noexcept {
  return file.generation;
}
bool IsOpen() noexcept {
  return file.on.load(std::memory_order_relaxed);
}
const char* OffReason() noexcept {
  return file.off_reason.load(std::memory_order_relaxed);
}

int OpenFile(const char* path, const Options& options) noexcept {
  if (file.on.load()) return EBUSY;
  if (const int error = file.disk.Make(path, wire::kHeaderBytes, options.limit_bytes)) return error;
  FillHeader(*Header());
  ForgetStrings();
  file.off_reason.store(nullptr);
  file.exhausting.store(false);
  file.exhausted.store(false);
  file.forked = false;
  file.stop.store(false);
  file.may_help.store(!options.alone_at_first);
  file.forked_ns.store(0);
  file.asked.store(false);
  file.own_chunks_ns.store(0);
  file.number.fetch_add(1);
  file.supply.Start(file.disk);
  file.ready.SetTarget(file.supply.MostReady(options.ready_chunks));
  sem_init(&file.wanted, 0, 0);
  static const int at_fork = pthread_atfork(BeforeFork, InParent, InChild);
  (void)at_fork;
  file.generation.fetch_add(1);
  file.on.store(true, std::memory_order_release);
  if (FillReady()) Provide(file.spare);
  if (Header()->next_chunk == 0) {
    file.on.store(false);
    file.disk.Close();
    return ENOSPC;
  }
  StartHelper();
  return 0;
}

void AllowHelper() noexcept {
  if (file.may_help.load(std::memory_order_relaxed) || file.may_help.exchange(true)) return;
  if (file.on.load()) StartHelper();
}

void CloseFile(bool clean) noexcept {
  if (!file.disk.is_open()) return;
  file.on.store(false);
  file.generation.fetch_add(1);
  StopHelper();
  GiveBackUnused();
  if (clean) Shared(Header()->clean_end).store(1, std::memory_order_release);
  file.disk.Close();
}

Chunk TakeChunk() noexcept {
  if (takes_spare) {
    if (const std::uint32_t spare = file.spare.exchange(0)) return Opened(spare - 1);
  }
  if (!file.helper_runs.load(std::memory_order_relaxed)) {
    // A forked child's first record: the ready chunks and the helper are its parent's. The recording thread makes the
    // first chunk, its own helper the next ones.
    file.ready.SetTarget(1);
    if (!file.exhausted.load()) FillReady();
    file.ready.SetTarget(file.supply.at_limit() ? 1 : 2);
    StartHelper();
  }
  const bool last = file.exhausted.load(std::memory_order_acquire);
  const unsigned target = file.ready.target();
  unsigned left = 0;
  const std::uint32_t number = file.number.load(std::memory_order_relaxed);
  const bool full = file.supply.at_limit();
  std::uint32_t taken = file.ready.TakeLowest(last_taken.file == number && !full ? last_taken.chunk : 0, left);
  if (taken == 0 && last) SwitchOff();
  if (taken == 0 && !last) taken = OwnChunk();
  if (taken != 0) last_taken = {number, taken};
  if (left <= target / 4 && !last) file.ready.SetTarget(file.supply.MostReady(target * 2));
  // Each wake-up of the helper may preempt the recording thread: only wake it for several chunks.
  if (left <= target / 2 + 1 && !last && !file.asked.exchange(true)) sem_post(&file.wanted);
  return taken != 0 ? Opened(taken - 1) : Chunk{};
}

void CloseChunk(wire::ChunkHeader* chunk) noexcept {
  chunk->crc32c = Crc32c(chunk + 1, chunk->used);
  Shared(chunk->closed).store(1, std::memory_order_release);
  file.supply.Closed(chunk);
}

void KeepOperators(bool keep, std::uint64_t time_ns) noexcept {
  file.supply.KeepOperators(keep, time_ns);
}

}  // namespace loopscope::capture
