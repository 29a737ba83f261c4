// The Python frames of a thread whose calls are followed. Called under the interpreter's lock; throws std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "probes/preload/python/code.h"

namespace loopscope {

struct Frame {
  void* frame = nullptr;  // borrowed: it runs
  Code* code = nullptr;
  // For a place, a frame of the user's code or of an installed package:
  int line = 0;               // that runs
  std::uint32_t called = 0;   // the name of what it calls
  bool calling = false;       // it waits for a call to return
  bool in_container = false;  // what it calls runs a list of transforms or modules
  std::size_t named_at = 0;   // it called a nameless wrapper: frames below the call that gave the name
};

inline bool IsPlace(const Code& code) {
  return code.owner != Owner::kForeign;
}

class FollowedFrames {
 public:
  Frame* innermost_place() { return places_.empty() ? nullptr : &frames_[places_.back()]; }
  // Not something that it called.
  bool place_runs_itself() const { return !places_.empty() && places_.back() + 1 == frames_.size(); }
  std::size_t depth() const { return frames_.size(); }
  bool IsInnermost(void* frame) const { return !frames_.empty() && frames_.back().frame == frame; }

  void Push(void* frame, Code& code);
  void Pop();
  void Clear();
  // Frames that already run when following starts inside of them.
  void Read(void* innermost);
  void ReadCallerOf(void* frame);

  // The innermost place's line and its callers: an installed package's frames inside the user's innermost one, then the
  // user's.
  std::uint32_t StackOfPlace() const;

 private:
  std::vector<Frame> frames_;          // outermost first
  std::vector<std::uint32_t> places_;  // indices of places
};

}  // namespace loopscope
