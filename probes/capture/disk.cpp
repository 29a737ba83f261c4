#include "probes/capture/disk.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "probes/capture/thread_clock.h"

namespace loopscope::capture {
namespace {

constexpr std::uint64_t kMinMappingBytes = 64ull << 20;
constexpr std::uint64_t kLeastLeftBytes = 256ull << 20;  // left on the disk for the program's own files
constexpr int kHighDescriptor = 700;                     // well above those that programs use and close

int MoveUp(int fd) noexcept {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, kHighDescriptor);
  if (high < 0) return fd;
  close(fd);
  return high;
}

void PreFault(unsigned char* from, std::uint64_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  if (madvise(from, bytes, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (std::uint64_t at = 0; at < bytes; at += 4096) static_cast<volatile unsigned char*>(from)[at] = 0;
}

// Under a limit of address space (`ulimit -v`, batch systems) the program may need all that is left.
bool IsAddressSpaceLimited() noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// The program's checkpoints have priority over the capture: keep half of a small disk free.
bool LeavesRoom(int fd, std::uint64_t bytes) noexcept {
  struct statvfs disk {};
  if (fstatvfs(fd, &disk) != 0 || disk.f_blocks == 0) return true;
  const std::uint64_t free_bytes = disk.f_bavail * disk.f_frsize, all_bytes = disk.f_blocks * disk.f_frsize;
  return free_bytes >= bytes + std::min(kLeastLeftBytes, all_bytes / 2);
}

// For file systems without fallocate.
int WriteZeros(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
  static const unsigned char zeros[4096] = {};
  for (std::uint64_t at = 0; at < bytes; at += sizeof zeros) {
    const std::size_t part = std::min<std::uint64_t>(sizeof zeros, bytes - at);
    errno = ENOSPC;  // meaning of a short write
    if (pwrite(fd, zeros, part, static_cast<off_t>(offset + at)) != static_cast<ssize_t>(part)) return errno;
  }
  return 0;
}

}  // namespace

int DiskFile::Make(const char* path, std::uint64_t first_bytes, std::uint64_t limit_bytes) noexcept {
  if (std::strlen(path) >= sizeof path_) return ENAMETOOLONG;
  const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  std::strcpy(path_, path);
  fd_ = MoveUp(fd);
  fstat(fd_, &identity_);
  int error = Allocate(0, first_bytes);
  if (error == 0) error = Map(limit_bytes);
  if (error == 0) return 0;
  close(fd_);
  fd_ = -1;
  unlink(path);
  return error;
}

// A program may have closed our descriptor and reused its number: never allocate in a file that is not ours.
bool DiskFile::DescriptorIsOurs() noexcept {
  struct stat now {};
  const auto same = [&] { return now.st_dev == identity_.st_dev && now.st_ino == identity_.st_ino; };
  if (fstat(fd_, &now) == 0 && same()) return true;
  const int again = open(path_, O_RDWR | O_CLOEXEC);
  if (again < 0) return false;
  if (fstat(again, &now) != 0 || !same()) {
    close(again);
    return false;
  }
  fd_ = again;
  return true;
}

int DiskFile::Allocate(std::uint64_t offset, std::uint64_t bytes) noexcept {
  rlimit limit{};
  // Beyond this limit the kernel would end the program with SIGXFSZ.
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && offset + bytes > limit.rlim_cur) {
    return EFBIG;
  }
  if (!DescriptorIsOurs()) return EBADF;
  if (!LeavesRoom(fd_, bytes)) return ENOSPC;
  while (fallocate(fd_, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    return errno == EOPNOTSUPP || errno == ENOSYS ? WriteZeros(fd_, offset, bytes) : errno;
  }
  return 0;
}

int DiskFile::Map(std::uint64_t limit_bytes) noexcept {
  const std::uint64_t most = IsAddressSpaceLimited() ? kMinMappingBytes : std::max(limit_bytes, kMinMappingBytes);
  for (std::uint64_t bytes = most; bytes >= kMinMappingBytes; bytes /= 2) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);
    if (at == MAP_FAILED) continue;
    madvise(at, bytes, MADV_DONTDUMP);
    base_ = static_cast<unsigned char*>(at);
    mapped_bytes_ = std::min(bytes, limit_bytes);
    return 0;
  }
  return ENOMEM;
}

int DiskFile::Reserve(std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (offset + bytes > mapped_bytes_) return EFBIG;
  const int error = Allocate(offset, bytes);
  if (error == 0) PreFault(base_ + offset, bytes);
  return error;
}

bool DiskFile::Shorten(std::uint64_t bytes) noexcept {
  return DescriptorIsOurs() && ftruncate(fd_, static_cast<off_t>(bytes)) == 0;
}

void DiskFile::Close() noexcept {
  if (DescriptorIsOurs()) close(fd_);
  fd_ = -1;
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

void FillHeader(wire::FileHeader& header) noexcept {
  std::memcpy(header.magic, wire::kMagic, sizeof header.magic);
  header.major = wire::kMajor;
  header.minor = wire::kMinor;
  header.header_bytes = wire::kHeaderBytes;
  header.chunk_bytes = wire::kChunkBytes;
  header.pid = static_cast<std::uint32_t>(getpid());
  timespec real{};
  clock_gettime(CLOCK_REALTIME, &real);
  header.start_mono_ns = KernelNs();
  header.start_real_ns = static_cast<std::uint64_t>(real.tv_sec) * 1'000'000'000u + real.tv_nsec;
}

}  // namespace loopscope::capture
