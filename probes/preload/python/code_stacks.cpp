#include <array>

#include "probes/capture/records.h"
#include "probes/preload/call_stack.h"
#include "probes/preload/python/code.h"

namespace loopscope {
namespace {

constexpr std::size_t kMaxFrames = 64;
constexpr int kMaxDepth = 400;  // frames looked at

// Innermost first: an installed package's frames inside the user's innermost one, then the user's.
struct Frames {
  std::array<std::uint64_t, kMaxFrames> texts;
  std::size_t count = 0;
  bool users = false;

  void Add(void* frame, Code& code) {
    const bool user = code.owner == Owner::kUser;
    if (code.owner == Owner::kForeign || count == kMaxFrames || (users && !user)) return;
    users |= user;
    texts[count++] = FrameText(code, python_frames.line(frame));
  }
};

std::uint32_t Walk() {
  Frames frames;
  void* frame = python_frames.frame();
  if (frame != nullptr) python_frames.take(frame);
  for (int depth = 0; frame != nullptr && depth < kMaxDepth; ++depth) {
    frames.Add(frame, CodeOfFrame(frame));
    void* outer = python_frames.back(frame);
    python_frames.give(frame);
    frame = outer;
  }
  if (frame != nullptr) python_frames.give(frame);
  return capture::StackId(frames.texts.data(), frames.count);
}

}  // namespace

void UsePythonStacks() noexcept {
  if (FindPythonFrames()) {
    TakeStacksWith(PythonStackId);
  } else {
    capture::WriteMark(wire::MarkKind::kProbeOff, "call stacks of this Python cannot be read");
    TakeStacksWith([]() noexcept -> std::uint32_t { return 0; });
  }
}

std::uint32_t PythonStackId() noexcept {
  if (python_frames.is_initialized() == 0 || python_frames.this_thread() == nullptr) return 0;
  const int state = python_frames.lock();
  std::uint32_t id = 0;
  // Looking at attributes would disturb a pending exception.
  if (python_frames.error() == nullptr) {
    try {
      id = Walk();
    } catch (...) {
      id = 0;
    }
  }
  python_frames.unlock(state);
  return id;
}

}  // namespace loopscope
