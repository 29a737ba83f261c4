#include "probes/preload/python/followed_frames.h"

#include <array>

#include "probes/capture/strings.h"

namespace loopscope {
namespace {

constexpr std::size_t kMaxFrames = 32;  // of a line's stack

}  // namespace

void FollowedFrames::Push(void* frame, Code& code) {
  frames_.push_back({frame, &code});
  if (!IsPlace(code)) return;
  frames_.back().line = python_frames.line(frame);
  places_.push_back(static_cast<std::uint32_t>(frames_.size() - 1));
}

void FollowedFrames::Pop() {
  if (place_runs_itself()) places_.pop_back();
  frames_.pop_back();
}

void FollowedFrames::Clear() {
  frames_.clear();
  places_.clear();
}

void FollowedFrames::Read(void* innermost) {
  Clear();
  std::vector<void*> found;
  void* frame = innermost;
  python_frames.take(frame);
  while (frame != nullptr) {
    found.push_back(frame);
    void* const outer = python_frames.back(frame);
    python_frames.give(frame);
    frame = outer;
  }
  for (auto one = found.rbegin(); one != found.rend(); ++one) {
    if (Frame* place = innermost_place()) place->calling = true;
    Push(*one, CodeOfFrame(*one));
  }
}

void FollowedFrames::ReadCallerOf(void* frame) {
  void* const outer = python_frames.back(frame);
  if (outer == nullptr) return;
  Read(outer);
  python_frames.give(outer);
}

std::uint32_t FollowedFrames::StackOfPlace() const {
  std::array<std::uint64_t, kMaxFrames> texts;
  std::size_t count = 0;
  bool users = false;
  for (auto place = places_.rbegin(); place != places_.rend() && count < kMaxFrames; ++place) {
    const Frame& frame = frames_[*place];
    const bool user = frame.code->owner == Owner::kUser;
    if (users && !user) continue;
    users |= user;
    texts[count++] = FrameText(*frame.code, frame.line);
  }
  return capture::StackId(texts.data(), count);
}

}  // namespace loopscope
