// For debugging this probe: LOOPSCOPE_CUPTI_DUMP=FILE (env::kCuptiDump) appends the buffers of CUPTI to FILE as
// they are handed over, so that what a real device sends can be decoded again elsewhere.
//
// Each buffer is its length (8 bytes, little-endian) and its valid bytes; buffers that would make more than 8 MB in all
// are left out. At the program's end a length of 0 follows, and then every text that the records point to: its address
// and its length (8 bytes each), and its characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "probes/cupti/cupti_library.h"

namespace loopscope {

// One caller at a time.
class BufferDump {
 public:
  static constexpr std::size_t kMostBytes = 8 << 20;

  // Null `path`: nothing is written.
  BufferDump(const Cupti& cupti, const char* path) noexcept;
  ~BufferDump();
  BufferDump(const BufferDump&) = delete;
  BufferDump& operator=(const BufferDump&) = delete;

  void Add(std::uint8_t* buffer, std::size_t valid) noexcept;
  // Writes the texts. Nothing is added after it.
  void Finish() noexcept;

 private:
  struct Text {
    std::uint64_t address;
    std::string characters;
    bool operator<(const Text& other) const noexcept { return address < other.address; }
  };

  void KeepTexts(std::uint8_t* buffer, std::size_t valid);
  void Keep(const char* text);

  const Cupti& cupti_;
  int file_ = -1;
  std::size_t bytes_ = 0;
  std::set<Text> texts_;  // copies: a module may be gone at the end
};

}  // namespace loopscope
