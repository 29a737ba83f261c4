// Follows a capture while it is written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "profiler/importers/capture/file.h"

namespace loopscope {

// Whole records of one thread, in the order in which it wrote them.
struct NewRecords {
  std::uint32_t pid = 0, tid = 0;
  std::string bytes;
  ChunkView view() const { return {pid, tid, {bytes.data(), bytes.size()}}; }
};

class CaptureTail {
 public:
  explicit CaptureTail(const std::filesystem::path& path);
  ~CaptureTail();
  CaptureTail(const CaptureTail&) = delete;
  CaptureTail& operator=(const CaptureTail&) = delete;

  // What was written since the last call; also empty if the file cannot be read or is not a capture of this version.
  std::vector<NewRecords> Poll();

 private:
  struct Chunk {
    std::uint32_t order = 0, read = 0;  // bytes of its records
    bool is_copy = false;               // kept records of a reused chunk, which were already read there
  };
  void Read(std::uint32_t index, std::vector<NewRecords>& into);

  int file_;
  std::vector<Chunk> chunks_;
};

}  // namespace loopscope
