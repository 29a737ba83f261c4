// Cuts a stretch of the training thread's time where an operator, a part of the step or a line of the program begins or
// ends, so that each piece has one of each.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

struct LinePiece {
  Interval time;
  Part part = Part::kOther;
  StringId op = 0;                 // the outermost operator that runs; 0: none
  StringId before = 0, after = 0;  // without one: the operators at both ends of the gap
  std::uint32_t stack = kNone;     // the line and its callers; kNone: not known
  StringId called = 0;             // the function that the line called, or the system's that it waits in; 0: none
  float own_share = 0;             // of the time, in code of the line itself
};

// What `within` was spent on by line, costliest first: ms in all of it. What is known of no line has no stack.
std::vector<LineShare> LinesIn(const Timeline& timeline, std::span<const Interval> within);

// What a loader's workers spend on a batch, by line, costliest first: ms per batch, those of followed batches. Empty
// where none was followed.
std::vector<LineShare> WorkerLines(const Timeline& timeline);

class LinePieces {
 public:
  explicit LinePieces(const Timeline& timeline) : timeline_(timeline) {}  // which is kept by reference

  // In order, without gaps.
  void ForEach(Interval within, const std::function<void(const LinePiece&)>& visit) const;

 private:
  struct Work {
    Interval time;
    StringId name = 0;
    std::uint32_t stack = kNone;
    bool is_op = false;  // else it waits in the system, or writes
  };
  std::vector<Work> WorkIn(Interval within) const;
  std::vector<std::pair<Interval, Part>> PartsIn(Interval within) const;  // by start; what is in none is kOther
  std::uint32_t StackOf(EventRef ref) const;
  bool BeginsAnew(std::uint32_t first, std::uint32_t second) const;
  void Place(const std::vector<Work>& work, std::size_t next, LinePiece& piece) const;

  const Timeline& timeline_;
};

}  // namespace loopscope
