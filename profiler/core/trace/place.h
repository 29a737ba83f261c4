// Places in the program: a frame, a call stack, and what ran at a line where calls were followed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/core/trace/device_event.h"

namespace loopscope {

// A place in the user's source. line is 0 when only the function is known.
struct Where {
  std::string path;
  int line = 0;
  std::string function;
  auto operator<=>(const Where&) const = default;
};

struct Stack {
  std::vector<Where> frames;        // the user's frames only, innermost first; may be empty
  std::vector<Where> library = {};  // frames of installed packages inside the innermost of them, likewise
};

// One line of the program ran, or what it called, where calls were followed (wire::RangeCategory::kLine).
struct LineSlice {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t stack = kNone;  // index into Trace::stacks
  StringId called = 0;          // the function that the line called longest; 0: none
  std::uint32_t calls = 0;
  float own_share = 0;  // of the time, in code of the line itself
};

}  // namespace loopscope
