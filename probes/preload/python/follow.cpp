#include "probes/preload/python/follow.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "probes/capture/records.h"
#include "probes/preload/python/call_names.h"
#include "probes/preload/python/code.h"
#include "probes/preload/python/followed_frames.h"
#include "probes/preload/python/hooks_in_use.h"
#include "probes/preload/python/open_line.h"

namespace loopscope::follow {
namespace {

// Py_tracefunc's kinds of event, of builtin functions.
enum { kCallBuiltin = 4, kBuiltinRaised = 5, kBuiltinReturned = 6 };

struct Python {
  void (*set_profile)(Hook, void*);  // PyEval_SetProfile
} python{};

constexpr std::uint64_t kOwnSliceNs = 5000;  // calls of one line that take longer are told apart
constexpr std::size_t kMaxSlices = 200'000;  // of a run: a program that makes more is followed no further

struct Follower {
  bool on = false;
  pid_t thread = 0;
  std::uint64_t last_ns = 0, calls = 0, slices = 0;
  FollowedFrames frames;
  OpenLine open;
} follower;

Frame* Innermost() {
  return follower.frames.innermost_place();
}
bool RunsItself() {
  return follower.frames.place_runs_itself();
}

// The open stretch ends at end_ns, and another begins.
void Write(std::uint64_t end_ns) {
  OpenLine& open = follower.open;
  if (end_ns > open.begin_ns && Innermost() != nullptr && follower.slices < kMaxSlices) {
    capture::WriteRange(wire::RangeCategory::kLine, open.longest_call(), open.begin_ns, end_ns,
                        open.Value(end_ns - open.begin_ns), follower.frames.StackOfPlace());
    ++follower.slices;
  }
  open = OpenLine(end_ns);
}

// Time up to now_ns belongs to the line that ran, or to what it called. A call that took long is written alone.
void Advance(std::uint64_t now_ns) {
  const std::uint64_t spent = now_ns - std::exchange(follower.last_ns, now_ns);
  const Frame* place = Innermost();
  if (place == nullptr || !place->calling) follower.open.own_ns += spent;
}

void CallEnds(std::uint64_t now_ns) {
  Frame& place = *Innermost();
  OpenLine& open = follower.open;
  const std::uint64_t call_ns = std::max(open.call_ns, open.begin_ns);
  place.calling = false;
  if (now_ns - call_ns < kOwnSliceNs) return open.AddCall(place.called, now_ns - call_ns);
  const std::uint64_t calls = std::exchange(open.calls, 0);
  if (call_ns > open.begin_ns) Write(call_ns);
  open.AddCall(place.called, now_ns - call_ns);
  open.calls = calls;
  Write(now_ns);
}

// What runs changes: the open stretch ends at end_ns.
void Flush(std::uint64_t end_ns) {
  Frame* place = Innermost();
  if (place != nullptr && place->calling) {
    CallEnds(end_ns);
    place->calling = true;
  }
  Write(end_ns);
  follower.open.call_ns = end_ns;
}

// The innermost place runs code of its own: reads which line that is. Its own time since the last event belongs to the
// line that it has reached.
void ReadLine() {
  Frame& place = *Innermost();
  const int line = python_frames.line(place.frame);
  if (line == place.line) return;
  Flush(follower.last_ns);
  place.line = line;
}

// A wrapper without a name of its own calls something: that is what the place runs until it returns.
void NameInside(void* frame, Code& code, std::uint64_t now_ns) {
  Frame* place = Innermost();
  if (place == nullptr || place->called != 0) return;
  const std::uint32_t name = NameOfFrame(frame, code);
  if (name == 0) return;
  CallEnds(now_ns);
  place->calling = true;
  place->called = name;
  place->named_at = follower.frames.depth();
  follower.open.call_ns = now_ns;
}

void NamedReturns(std::uint64_t now_ns) {
  Frame* place = Innermost();
  if (place == nullptr || !place->calling || place->named_at == 0 || place->named_at != follower.frames.depth()) return;
  CallEnds(now_ns);
  place->calling = true;
  place->called = 0;
  place->named_at = 0;
  follower.open.call_ns = now_ns;
}

void OnCall(void* frame, std::uint64_t now_ns) {
  Code& code = CodeOfFrame(frame);
  if (RunsItself()) {
    ReadLine();
    Advance(now_ns);
    Frame& place = *Innermost();
    place.calling = true;
    follower.open.call_ns = now_ns;
    place.named_at = 0;
    place.called = IsPlace(code) && code.owner == Owner::kUser ? 0 : NameOfFrame(frame, code);
  } else {
    Advance(now_ns);
    NameInside(frame, code, now_ns);
  }
  if (IsPlace(code)) Flush(now_ns);
  follower.frames.Push(frame, code);
}

void OnReturn(void* frame, std::uint64_t now_ns) {
  FollowedFrames& frames = follower.frames;
  if (!frames.IsInnermost(frame)) {  // an event was missed: look again
    Advance(now_ns);
    Flush(now_ns);
    frames.Read(frame);
  }
  const bool was_place = RunsItself();
  if (was_place) ReadLine();
  Advance(now_ns);
  if (was_place) Flush(now_ns);
  frames.Pop();
  if (RunsItself()) {
    CallEnds(now_ns);
  } else {
    NamedReturns(now_ns);
  }
  if (frames.depth() == 0) frames.ReadCallerOf(frame);
}

void OnBuiltin(void* function, bool begins, std::uint64_t now_ns) {
  if (!RunsItself()) {
    return Advance(now_ns);
  }
  Frame& place = *Innermost();
  if (begins) {
    ReadLine();
    Advance(now_ns);
    place.called = NameOfBuiltin(function);
    place.calling = true;
    place.named_at = 0;
    follower.open.call_ns = now_ns;
  } else {
    Advance(now_ns);
    CallEnds(now_ns);
  }
}

}  // namespace

void OnEvent(void* frame, int what, void* argument) noexcept {
  const std::uint64_t now_ns = capture::NowNs();
  try {
    ++follower.calls;
    ++follower.open.calls;
    switch (what) {
      case kCall:
        OnCall(frame, now_ns);
        break;
      case kReturn:
        OnReturn(frame, now_ns);
        break;
      case kCallBuiltin:
        OnBuiltin(argument, true, now_ns);
        break;
      case kBuiltinRaised:
      case kBuiltinReturned:
        OnBuiltin(argument, false, now_ns);
        break;
      default:
        break;
    }
  } catch (...) {  // out of memory: what is known of the frames may be wrong
    follower.frames.Clear();
  }
}

namespace {

int OnOwnEvent(void*, void* frame, int what, void* argument) noexcept {
  if (follower.on) {
    OnEvent(frame, what, argument);
  } else {  // a forked child has inherited the hook
    python.set_profile(nullptr, nullptr);
  }
  return 0;
}

bool FindAll() noexcept {
  python.set_profile = reinterpret_cast<void (*)(Hook, void*)>(dlsym(RTLD_DEFAULT, "PyEval_SetProfile"));
  return python.set_profile != nullptr && FindCallNames() && FindHookGetters();
}

// Throws std::bad_alloc.
void Begin(void* frame) {
  follower.frames.Read(frame);
  follower.thread = gettid();
  follower.calls = 0;
  follower.last_ns = capture::NowNs();
  follower.open = OpenLine(follower.last_ns);
  follower.on = true;
}

std::uint64_t End() noexcept {
  try {
    const std::uint64_t now_ns = capture::NowNs();
    Advance(now_ns);
    Flush(now_ns);
  } catch (...) {
  }
  follower.on = false;
  follower.frames.Clear();
  return follower.calls;
}

}  // namespace

const char* WhyNot() noexcept {
  static const bool found = FindAll() && pthread_atfork(nullptr, nullptr, [] { follower.on = false; }) == 0;
  if (!found) return "this Python does not tell which lines run";
  return HookInUse();
}

void SetHook(Hook hook) noexcept {
  python.set_profile(hook, nullptr);
}

bool StartInHook() noexcept {
  if (follower.on || follower.slices >= kMaxSlices || !FindPythonFrames()) return false;
  try {
    void* const frame = python_frames.frame();
    if (frame != nullptr) Begin(frame);
  } catch (...) {
    follower.on = false;
  }
  return follower.on;
}

std::uint64_t StopInHook() noexcept {
  return follower.on && follower.thread == gettid() ? End() : 0;
}

bool Start() noexcept {
  if (follower.on || follower.slices >= kMaxSlices || !FindPythonFrames()) return false;
  if (python_frames.is_initialized() == 0 || python_frames.this_thread() == nullptr) return false;
  const int state = python_frames.lock();
  if (python_frames.error() == nullptr) {
    const char* reason = WhyNot();
    if (reason != nullptr) SayLinesAreUnknown(reason);
    if (reason == nullptr && StartInHook()) SetHook(OnOwnEvent);
  }
  python_frames.unlock(state);
  return follower.on;
}

std::uint64_t Stop() noexcept {
  if (!follower.on || follower.thread != gettid()) return 0;
  // The program ends, and its interpreter is gone: so are the frames.
  if (python_frames.is_initialized() == 0 || python_frames.this_thread() == nullptr) {
    follower.on = false;
    follower.frames.Clear();
    return follower.calls;
  }
  const int state = python_frames.lock();
  const bool pending = python_frames.error() != nullptr;
  if (pending || !HasProfileHook()) SetHook(nullptr);
  const std::uint64_t calls = End();
  python_frames.unlock(state);
  return calls;
}

}  // namespace loopscope::follow
