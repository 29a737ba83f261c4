#include <string_view>

#include "probes/capture/file.h"
#include "probes/capture/records.h"
#include "probes/preload/python/code.h"
#include "probes/preload/python/follow.h"

namespace loopscope::follow {
namespace {

// The first batch opens files and fills caches.
constexpr int kFirstBatch = 2, kLastBatch = 3;
constexpr int kDeepest = 64;  // frames searched, from fork() outwards

int fetches = 0;
void* fetch = nullptr;  // the frame that is followed

bool Is(const Code& code, std::string_view function, std::string_view file) {
  return code.function == function && code.path.ends_with(file);
}

// Throws std::bad_alloc.
bool IsFetch(void* frame) {
  return Is(CodeOfFrame(frame), "fetch", "/torch/utils/data/_utils/fetch.py");
}

// The loader's iterator starts its workers. Throws std::bad_alloc.
bool StartsWorkers() {
  void* frame = python_frames.frame();
  if (frame != nullptr) python_frames.take(frame);
  bool found = false;
  for (int depth = 0; frame != nullptr && depth < kDeepest && !found; ++depth) {
    found = Is(CodeOfFrame(frame), "__init__", "/torch/utils/data/dataloader.py");
    void* const outer = python_frames.back(frame);
    python_frames.give(frame);
    frame = outer;
  }
  if (frame != nullptr) python_frames.give(frame);
  return found;
}

void BatchBegins(void* frame) noexcept {
  if (!StartInHook()) return SetHook(nullptr);
  fetch = frame;
  capture::WriteMark(wire::MarkKind::kFollowBegin, "worker");
}

void BatchEnds() noexcept {
  capture::WriteMark(wire::MarkKind::kFollowEnd, {}, StopInHook());
  fetch = nullptr;
  if (fetches >= kLastBatch) SetHook(nullptr);
}

int OnWorkerEvent(void*, void* frame, int what, void* argument) noexcept {
  if (fetch != nullptr) {
    OnCallEvent(frame, what, argument);
    if (what == kReturn && frame == fetch) BatchEnds();
    return 0;
  }
  try {
    if (what == kCall && IsFetch(frame) && ++fetches >= kFirstBatch) BatchBegins(frame);
  } catch (...) {
    SetHook(nullptr);
  }
  return 0;
}

}  // namespace

void ChildBegins() noexcept {
  fetches = 0;
  fetch = nullptr;
  if (!capture::IsOpen() || !FindPythonFrames()) return;
  try {
    if (!StartsWorkers() || WhyNot() != nullptr) return;
    FollowLoading();
    SetHook(OnWorkerEvent);
  } catch (...) {
  }
}

}  // namespace loopscope::follow
