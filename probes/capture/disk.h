// A file that grows by whole pieces, with its space on disk reserved before it is touched, mapped at one address.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>

#include "probes/wire.h"

namespace loopscope::capture {

class DiskFile {
 public:
  // Makes `path` (which must not exist; mode 0600) of `first_bytes`, and maps address space for up to limit_bytes,
  // or less if address space is limited. Returns 0 or an errno; then nothing is left behind.
  int Make(const char* path, std::uint64_t first_bytes, std::uint64_t limit_bytes) noexcept;

  // Reserves and pre-faults `bytes` bytes at `offset` (both multiples of the page size). Returns 0 or an errno: EFBIG
  // beyond the limit, ENOSPC where too little would be left on the disk, EBADF where the program closed or removed the
  // file. Never raises SIGXFSZ. Any thread may call it.
  int Reserve(std::uint64_t offset, std::uint64_t bytes) noexcept;

  bool Shorten(std::uint64_t bytes) noexcept;  // cuts off the rest
  void Close() noexcept;                       // the mapping stays

  bool is_open() const noexcept { return fd_ >= 0; }
  std::uint64_t mapped_bytes() const noexcept { return mapped_bytes_; }  // up to which it may grow
  unsigned char* base() const noexcept { return base_; }
  const char* path() const noexcept { return path_; }

 private:
  bool DescriptorIsOurs() noexcept;
  int Allocate(std::uint64_t offset, std::uint64_t bytes) noexcept;
  int Map(std::uint64_t limit_bytes) noexcept;

  std::atomic<int> fd_{-1};
  unsigned char* base_ = nullptr;
  std::uint64_t mapped_bytes_ = 0;
  struct stat identity_ {};
  char path_[4096] = "";
};

// Reserve's error as text for the user.
const char* ReasonFor(int error) noexcept;

// For a file that this process has just made.
void FillHeader(wire::FileHeader& header) noexcept;

}  // namespace loopscope::capture
