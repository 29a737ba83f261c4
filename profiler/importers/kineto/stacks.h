// Call stacks of the user's frames, each kept once in Trace::stacks and grown by one frame at a time.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "profiler/core/trace/trace.h"

namespace loopscope {

class KinetoStacks {
 public:
  explicit KinetoStacks(Trace& trace) : trace_(trace) {}

  // The stack in which `frame` (a string's id: "train.py(12): main") was called from `caller` (kNone at the outermost);
  // `caller` itself for a frame that is not the user's.
  std::uint32_t Called(std::uint32_t caller, StringId frame);

  // The stack of a "Call stack" text: frames separated by ';', innermost first. kNone when none is the user's.
  std::uint32_t OfText(std::string_view text);

 private:
  const Where* UserFrame(StringId frame);
  std::uint32_t Add(std::uint32_t caller, const Where& where);

  Trace& trace_;
  std::unordered_map<StringId, Where> frames_;                  // path empty: not the user's
  std::unordered_map<std::uint64_t, std::uint32_t> by_caller_;  // caller << 32 | frame → stack
};

}  // namespace loopscope
