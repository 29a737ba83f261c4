// Reads an ELF file's headers using stack memory only, so that it also works between fork and exec.
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>

namespace loopscope::elf {

inline constexpr int kMostParts = 64, kMostEntries = 512;

class File {
 public:
  explicit File(const char* path) noexcept : fd_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Bytes read, which may be fewer.
  std::size_t Read(void* to, std::size_t size, std::uint64_t at) const noexcept {
    const ssize_t got = fd_ >= 0 ? pread(fd_, to, size, static_cast<off_t>(at)) : -1;
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  template <class T>
  bool Get(T& to, std::uint64_t at) const noexcept {
    return Read(&to, sizeof to, at) == sizeof to;
  }

 private:
  int fd_;
};

struct Parts {
  Elf64_Phdr all[kMostParts];
  int count = 0;

  const Elf64_Phdr* Find(std::uint32_t type) const noexcept {
    for (int i = 0; i < count; ++i) {
      if (all[i].p_type == type) return &all[i];
    }
    return nullptr;
  }
  // The file offset of an address; 0: none.
  std::uint64_t Offset(std::uint64_t address) const noexcept {
    for (int i = 0; i < count; ++i) {
      const Elf64_Phdr& one = all[i];
      if (one.p_type == PT_LOAD && address >= one.p_vaddr && address < one.p_vaddr + one.p_filesz) {
        return one.p_offset + (address - one.p_vaddr);
      }
    }
    return 0;
  }
};

}  // namespace loopscope::elf
