#include "probes/capture/file.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "probes/capture/crc32c.h"
#include "probes/capture/records.h"

namespace loopscope::capture {
namespace {

constexpr unsigned kMaxReady = 256;
constexpr std::uint64_t kMinMappingBytes = 64ull << 20;
constexpr std::size_t kHelperStackBytes = 512 * 1024;

// One per process, never destroyed: threads may write until the very end.
struct File {
  std::atomic<bool> on{false};
  std::atomic<std::uint32_t> generation{0};
  std::atomic<const char*> off_reason{nullptr};
  unsigned char* base = nullptr;
  std::uint64_t mapped_bytes = 0;
  int fd = -1;
  struct stat identity {};
  char path[4096] = "";

  // Ready chunks by index + 1; 0 is an empty slot.
  std::atomic<std::uint32_t> ready[kMaxReady]{};
  std::atomic<std::uint32_t> target{8};
  std::atomic<bool> asked{false};
  sem_t wanted{};
  pthread_t helper{};
  std::atomic<bool> helper_runs{false};
  std::atomic<bool> stop{false};
  bool forked = false;
};
File file;

template <class T>
std::atomic_ref<T> Shared(T& counter) noexcept {
  return std::atomic_ref<T>(counter);
}

wire::ChunkHeader* ChunkAt(std::uint32_t index) noexcept {
  return reinterpret_cast<wire::ChunkHeader*>(file.base + wire::kHeaderBytes +
                                              std::uint64_t{index} * wire::kChunkBytes);
}

// Programs may close descriptors that are not theirs and open others: never allocate in a file that is not ours.
bool DescriptorIsOurs() noexcept {
  struct stat now {};
  const auto same = [&] { return now.st_dev == file.identity.st_dev && now.st_ino == file.identity.st_ino; };
  if (fstat(file.fd, &now) == 0 && same()) return true;
  const int again = open(file.path, O_RDWR | O_CLOEXEC);
  if (again < 0) return false;
  if (fstat(again, &now) != 0 || !same()) {
    close(again);
    return false;
  }
  file.fd = again;
  return true;
}

// Reserves disk space; returns 0 or an errno. Never raises SIGXFSZ, which would end the program.
int Allocate(std::uint64_t offset, std::uint64_t bytes) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && offset + bytes > limit.rlim_cur) {
    return EFBIG;
  }
  if (!DescriptorIsOurs()) return EBADF;
  while (fallocate(file.fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return errno;
    static const unsigned char zeros[4096] = {};
    for (std::uint64_t at = 0; at < bytes; at += sizeof zeros) {
      const std::size_t part = std::min<std::uint64_t>(sizeof zeros, bytes - at);
      if (pwrite(file.fd, zeros, part, static_cast<off_t>(offset + at)) != static_cast<ssize_t>(part)) {
        return errno != 0 ? errno : ENOSPC;
      }
    }
    return 0;
  }
  return 0;
}

void PreFault(unsigned char* from, std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  // The first chunk's begin is page-aligned since the file header and chunks are whole pages.
  if (madvise(from, bytes, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile unsigned char*>(from)[at] = 0;
}

const char* ReasonFor(int error) noexcept {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "no space left on the disk of the capture";
    case EFBIG:
      return "the capture reached its size limit";
    case EBADF:
      return "the capture file was closed or removed by the program";
    default:
      return "the capture file could not be extended";
  }
}

// Makes one more chunk ready in `slot`; returns false when the file was switched off.
bool Provide(std::atomic<std::uint32_t>& slot) noexcept {
  auto next = Shared(Header()->next_chunk);
  const std::uint32_t index = next.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t offset = wire::kHeaderBytes + std::uint64_t{index} * wire::kChunkBytes;
  const int error = offset + wire::kChunkBytes > file.mapped_bytes ? EFBIG : Allocate(offset, wire::kChunkBytes);
  if (error != 0) {
    std::uint32_t ours = index + 1;
    next.compare_exchange_strong(ours, index);
    SwitchOff(ReasonFor(error));
    return false;
  }
  PreFault(file.base + offset, wire::kChunkBytes);
  slot.store(index + 1, std::memory_order_release);
  return true;
}

bool FillReady() noexcept {
  const unsigned target = file.target.load(std::memory_order_relaxed);
  for (unsigned n = 0; n < target; ++n) {
    auto& slot = file.ready[n];
    if (slot.load(std::memory_order_relaxed) != 0) continue;
    if (!file.on.load(std::memory_order_relaxed) || file.stop.load(std::memory_order_relaxed)) return false;
    if (!Provide(slot)) return false;
  }
  return true;
}

void* HelperMain(void*) noexcept {
  pthread_setname_np(pthread_self(), "loopscope");
  while (!file.stop.load(std::memory_order_acquire)) {
    file.asked.store(false, std::memory_order_seq_cst);
    if (!FillReady()) break;
    while (sem_wait(&file.wanted) != 0 && errno == EINTR) {
    }
  }
  return nullptr;
}

// The program's signals must never be delivered to the helper.
void StartHelper() noexcept {
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

void InChild() noexcept {
  for (auto& slot : file.ready) slot.store(0, std::memory_order_relaxed);
  file.generation.fetch_add(1);
  file.helper_runs.store(false);
  file.asked.store(false);
  file.forked = true;
  sem_init(&file.wanted, 0, 0);
  UnlockStrings();
}

void InParent() noexcept {
  file.forked = true;
  UnlockStrings();
}

// Maps as much address space as the limit asks for, or what the address-space limit leaves.
int MapFile(std::uint64_t limit_bytes) noexcept {
  for (std::uint64_t bytes = std::max(limit_bytes, kMinMappingBytes); bytes >= kMinMappingBytes; bytes /= 2) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.fd, 0);
    if (at == MAP_FAILED) continue;
    madvise(at, bytes, MADV_DONTDUMP);
    file.base = static_cast<unsigned char*>(at);
    file.mapped_bytes = std::min(bytes, limit_bytes);
    return 0;
  }
  return ENOMEM;
}

void FillHeader() noexcept {
  wire::FileHeader* header = Header();
  std::memcpy(header->magic, wire::kMagic, sizeof header->magic);
  header->major = wire::kMajor;
  header->minor = wire::kMinor;
  header->header_bytes = wire::kHeaderBytes;
  header->chunk_bytes = wire::kChunkBytes;
  header->pid = static_cast<std::uint32_t>(getpid());
  timespec real{};
  clock_gettime(CLOCK_REALTIME, &real);
  header->start_mono_ns = NowNs();
  header->start_real_ns = static_cast<std::uint64_t>(real.tv_sec) * 1'000'000'000u + real.tv_nsec;
}

// A number well above those that programs use and close.
int MoveDescriptorUp(int fd) noexcept {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, 700);
  if (high < 0) return fd;
  close(fd);
  return high;
}

// Gives back the disk space of chunks that were made ready and never used.
void GiveBackUnused() noexcept {
  bool unused[kMaxReady * 2] = {};
  auto next = Shared(Header()->next_chunk);
  const std::uint32_t end = next.load();
  const std::uint32_t from = end > kMaxReady * 2 ? end - kMaxReady * 2 : 0;
  for (auto& slot : file.ready) {
    const std::uint32_t chunk = slot.exchange(0);
    if (chunk > from) unused[chunk - 1 - from] = true;
  }
  std::uint32_t used_end = end;
  while (used_end > from && unused[used_end - 1 - from]) --used_end;
  if (file.forked || used_end == end || !DescriptorIsOurs()) return;
  if (ftruncate(file.fd, static_cast<off_t>(wire::kHeaderBytes + std::uint64_t{used_end} * wire::kChunkBytes)) == 0) {
    next.store(used_end);
  }
}

// Takes the ready chunk with the lowest number, so that a thread's chunks lie in the order of their records; 0 when
// there is none. `left` becomes how many there were.
std::uint32_t TakeLowest(unsigned target, unsigned& left) noexcept {
  for (;;) {
    std::atomic<std::uint32_t>* lowest = nullptr;
    std::uint32_t chunk = 0;
    left = 0;
    for (unsigned n = 0; n < target; ++n) {
      const std::uint32_t here = file.ready[n].load(std::memory_order_acquire);
      if (here == 0) continue;
      ++left;
      if (chunk == 0 || here < chunk) lowest = &file.ready[n], chunk = here;
    }
    if (chunk == 0 || lowest->compare_exchange_strong(chunk, 0, std::memory_order_acquire)) return chunk;
  }
}

}  // namespace

wire::FileHeader* Header() noexcept {
  return reinterpret_cast<wire::FileHeader*>(file.base);
}
std::uint32_t Generation() noexcept {
  return file.generation.load(std::memory_order_relaxed);
}
bool IsOpen() noexcept {
  return file.on.load(std::memory_order_relaxed);
}
const char* OffReason() noexcept {
  return file.off_reason.load(std::memory_order_relaxed);
}
const char* Path() noexcept {
  return file.path;
}

int OpenFile(const char* path, const Options& options) noexcept {
  if (file.on.load()) return EBUSY;
  if (std::strlen(path) >= sizeof file.path) return ENAMETOOLONG;
  std::strcpy(file.path, path);
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  file.fd = MoveDescriptorUp(fd);
  fstat(file.fd, &file.identity);
  int error = Allocate(0, wire::kHeaderBytes);
  if (error == 0) error = MapFile(options.limit_bytes);
  if (error != 0) {
    close(file.fd);
    unlink(path);
    file.path[0] = '\0';
    return error;
  }
  FillHeader();
  ForgetStrings();
  file.off_reason.store(nullptr);
  file.forked = false;
  file.stop.store(false);
  file.asked.store(false);
  file.target.store(std::clamp(options.ready_chunks, 1u, kMaxReady));
  sem_init(&file.wanted, 0, 0);
  static const int at_fork = pthread_atfork(LockStrings, InParent, InChild);
  (void)at_fork;
  file.generation.fetch_add(1);
  file.on.store(true, std::memory_order_release);
  if (!FillReady()) {
    file.on.store(false);
    close(file.fd);
    return ENOSPC;
  }
  StartHelper();
  return 0;
}

void CloseFile(bool clean) noexcept {
  if (file.base == nullptr || file.fd < 0) return;
  file.on.store(false);
  file.generation.fetch_add(1);
  StopHelper();
  GiveBackUnused();
  if (clean) Shared(Header()->clean_end).store(1, std::memory_order_release);
  if (DescriptorIsOurs()) close(file.fd);
  file.fd = -1;
}

void SwitchOff(const char* reason) noexcept {
  const char* none = nullptr;
  if (!file.off_reason.compare_exchange_strong(none, reason)) return;
  WriteMark(wire::MarkKind::kProbeOff, reason);
  file.on.store(false);
  char line[512];
  const int length = std::snprintf(line, sizeof line, "loopscope: %s; recording stops here, training goes on (%s)\n",
                                   reason, file.path);
  if (length > 0 && write(STDERR_FILENO, line, std::min<std::size_t>(length, sizeof line - 1)) < 0) return;
}

Chunk TakeChunk() noexcept {
  if (!file.helper_runs.load(std::memory_order_relaxed)) {
    // A forked child's first record: the chunks and the thread that were ready are its parent's.
    file.target.store(2, std::memory_order_relaxed);
    if (!Provide(file.ready[0])) return {};
    StartHelper();
  }
  const unsigned target = file.target.load(std::memory_order_relaxed);
  unsigned left = 0;
  const std::uint32_t taken = TakeLowest(target, left);
  if (left < target / 2 && target < kMaxReady) file.target.store(std::min(target * 2, kMaxReady));
  if (!file.asked.exchange(true)) sem_post(&file.wanted);
  if (taken == 0) return {};
  wire::ChunkHeader* header = ChunkAt(taken - 1);
  return {header, reinterpret_cast<unsigned char*>(header + 1),
          wire::kChunkBytes - static_cast<std::uint32_t>(sizeof *header)};
}

void CloseChunk(wire::ChunkHeader* chunk) noexcept {
  chunk->crc32c = Crc32c(chunk + 1, chunk->used);
  Shared(chunk->closed).store(1, std::memory_order_release);
}

}  // namespace loopscope::capture
