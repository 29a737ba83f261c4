// Interns the raw strings seen by one reading thread: each is kept once and has a small number.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace loopscope {

class KinetoStrings {
 public:
  struct Entry {
    std::string_view text;      // raw JSON, in this table's memory
    std::uint64_t hash = 0;     // not zero
    std::uint64_t seen_at = 0;  // where in the file it was first seen; orders strings over all threads
  };

  // The number of `text`; a new one is recorded as first seen at `seen_at`.
  std::uint32_t Id(std::string_view text, std::uint64_t seen_at);

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::string_view Kept(std::string_view text);
  void Grow();

  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024);  // number + 1; 0 free
  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t left_ = 0;  // free bytes of the last block
  char* free_ = nullptr;
};

std::uint64_t StringHash(std::string_view text);  // never zero

}  // namespace loopscope
