// Lines of one frame that run for less than a microsecond each, as in loops of plain Python: too many to write
// individually. Each keeps its total time, but not when it ran.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "probes/preload/python/open_line.h"

namespace loopscope {

struct ShortLine {
  int line = 0;
  std::uint64_t ns = 0;
  OpenLine open;  // its calls and own time
};

class ShortLines {
 public:
  static constexpr std::uint64_t kShortNs = 1000;    // less than any operator takes
  static constexpr std::uint64_t kMostNs = 200'000;  // from the first to the last of them

  // False: the stretch is not short, or there are too many lines; the caller writes it.
  bool Add(int line, const OpenLine& open, std::uint64_t end_ns) noexcept {
    const std::uint64_t ns = end_ns - open.begin_ns;
    if (ns >= kShortNs || (count_ > 0 && end_ns - begin_ns_ > kMostNs)) return false;
    std::size_t at = 0;
    while (at < count_ && lines_[at].line != line) ++at;
    if (at == lines_.size()) return false;
    if (count_ == 0) begin_ns_ = open.begin_ns;
    if (at == count_) lines_[count_++] = {line, 0, OpenLine(open.begin_ns)};
    lines_[at].ns += ns;
    lines_[at].open.Add(open);
    return true;
  }

  // visit(line, when its slice begins).
  template <class Visit>
  void ForEach(Visit visit) const {
    std::uint64_t begin_ns = begin_ns_;
    for (std::size_t i = 0; i < count_; ++i) {
      visit(lines_[i], begin_ns);
      begin_ns += lines_[i].ns;
    }
  }

  void Clear() noexcept { count_ = 0; }

 private:
  std::uint64_t begin_ns_ = 0;
  std::size_t count_ = 0;
  std::array<ShortLine, 8> lines_;
};

}  // namespace loopscope
