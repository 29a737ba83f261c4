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
  // `caller` itself for a frame that is not the user's. The number in a frame's name is not the running line's: it is
  // that of the function's definition, or of its line when recording began. `line` is the running one
  // ("train.py:41").
  std::uint32_t Called(std::uint32_t caller, StringId frame, StringId line = kNone);

  // The stack of a "Call stack" text: frames separated by ';', innermost first. kNone when none is the user's.
  std::uint32_t OfText(std::string_view text);

 private:
  struct Call {
    std::uint32_t caller;
    StringId frame, line;
    bool operator==(const Call&) const = default;
  };
  struct CallHash {
    std::size_t operator()(const Call& call) const {
      return ((std::uint64_t{call.caller} << 32 | call.frame) * 0x9e3779b97f4a7c15ull ^ call.line) *
             0x9e3779b97f4a7c15ull;
    }
  };

  const Where* UserFrame(StringId frame);
  std::uint32_t Add(std::uint32_t caller, const Where& where);

  Trace& trace_;
  std::unordered_map<StringId, Where> frames_;  // path empty: not the user's
  std::unordered_map<Call, std::uint32_t, CallHash> stacks_;
};

}  // namespace loopscope
