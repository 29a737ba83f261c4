#include "probes/preload/python/follow.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include "probes/capture/records.h"
#include "probes/preload/python/call_names.h"
#include "probes/preload/python/code.h"

namespace loopscope::follow {
namespace {

// Py_tracefunc's kinds of event.
enum What { kCall = 0, kReturn = 3, kCallBuiltin = 4, kBuiltinRaised = 5, kBuiltinReturned = 6 };

using Hook = int (*)(void* self, void* frame, int what, void* argument);

struct Python {
  void (*set_profile)(Hook, void*);             // PyEval_SetProfile
  void* (*system)(const char*);                 // PySys_GetObject, borrowed
  void* (*call)(void*, void*);                  // PyObject_CallObject, new
  void* (*call_with)(void*, const char*, ...);  // PyObject_CallFunction, new
  void* none;                                   // Py_None
} python{};

constexpr std::size_t kMaxFrames = 32;       // of a line's stack
constexpr std::uint64_t kOwnSliceNs = 5000;  // calls of one line that take longer are told apart
constexpr std::size_t kMaxSlices = 200'000;  // of a run: a program that makes more is followed no further

// A Python frame of the followed thread.
struct Frame {
  void* frame = nullptr;  // borrowed: it runs
  Code* code = nullptr;
  int line = 0;              // of a place: the line that runs
  std::uint32_t called = 0;  // of a place: the name of what it calls
  bool calling = false;      // of a place: it waits for a call to return
  std::size_t named_at = 0;  // of a place that called a nameless wrapper: frames below the call that gave the name
};

struct Callee {
  std::uint32_t name = 0;
  std::uint64_t ns = 0;
};

// A stretch of one line's time that has not ended.
struct Open {
  std::uint64_t begin_ns = 0, own_ns = 0, calls = 0;
  std::uint64_t call_ns = 0;  // when the call that runs now began
  std::array<Callee, 6> callees{};
};

struct Follower {
  bool on = false;
  pid_t thread = 0;
  std::uint64_t last_ns = 0, calls = 0, slices = 0;
  std::vector<Frame> frames;          // outermost first
  std::vector<std::uint32_t> places;  // those of the user's code and of packages
  Open open;
} follower;

bool IsPlace(const Code& code) {
  return code.owner != Owner::kForeign;
}

Frame* Innermost() {
  return follower.places.empty() ? nullptr : &follower.frames[follower.places.back()];
}

// The place itself runs, not something that it called.
bool RunsItself() {
  return !follower.places.empty() && follower.places.back() + 1 == follower.frames.size();
}

// The line and its callers: an installed package's frames inside the user's innermost one, then the user's.
std::uint32_t StackOfPlace() {
  std::array<std::uint64_t, kMaxFrames> texts;
  std::size_t count = 0;
  bool users = false;
  for (auto place = follower.places.rbegin(); place != follower.places.rend() && count < kMaxFrames; ++place) {
    const Frame& frame = follower.frames[*place];
    const bool user = frame.code->owner == Owner::kUser;
    if (users && !user) continue;
    users |= user;
    texts[count++] = FrameText(*frame.code, frame.line);
  }
  return capture::StackId(texts.data(), count);
}

std::uint64_t SliceValue(std::uint64_t length_ns) {
  const std::uint64_t own = std::min(follower.open.own_ns * wire::kLineOwnWhole / length_ns, wire::kLineOwnWhole);
  return own << wire::kLineOwnShift | std::min(follower.open.calls, wire::kMaxLineCalls);
}

// The open stretch ends at end_ns, and another begins.
void Write(std::uint64_t end_ns) {
  Open& open = follower.open;
  if (end_ns > open.begin_ns && Innermost() != nullptr && follower.slices < kMaxSlices) {
    const auto longest = std::ranges::max_element(open.callees, {}, &Callee::ns);
    capture::WriteRange(wire::RangeCategory::kLine, longest->name, open.begin_ns, end_ns,
                        SliceValue(end_ns - open.begin_ns), StackOfPlace());
    ++follower.slices;
  }
  open = {};
  open.begin_ns = end_ns;
}

void AddCallee(std::uint32_t name, std::uint64_t ns) {
  Callee* least = &follower.open.callees[0];
  for (Callee& one : follower.open.callees) {
    if (one.name == name) {
      one.ns += ns;
      return;
    }
    if (one.ns < least->ns) least = &one;
  }
  *least = {name, ns};
}

// Time up to now_ns belongs to the line that ran, or to what it called. A call that took long is written alone.
void Advance(std::uint64_t now_ns) {
  const std::uint64_t spent = now_ns - std::exchange(follower.last_ns, now_ns);
  const Frame* place = Innermost();
  if (place == nullptr || !place->calling) follower.open.own_ns += spent;
}

void CallEnds(std::uint64_t now_ns) {
  Frame& place = *Innermost();
  Open& open = follower.open;
  const std::uint64_t call_ns = std::max(open.call_ns, open.begin_ns);
  place.calling = false;
  if (now_ns - call_ns < kOwnSliceNs) return AddCallee(place.called, now_ns - call_ns);
  const std::uint64_t calls = std::exchange(open.calls, 0);
  if (call_ns > open.begin_ns) Write(call_ns);
  open.callees[0] = {place.called, now_ns - call_ns};
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

void Push(void* frame, Code& code) {
  follower.frames.push_back({frame, &code});
  if (IsPlace(code)) follower.places.push_back(static_cast<std::uint32_t>(follower.frames.size() - 1));
}

// The frames that run already, for a thread that is followed from inside of them.
void ReadFrames(void* innermost) {
  follower.frames.clear();
  follower.places.clear();
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
    if (Frame* place = Innermost()) place->calling = true;
    Push(*one, CodeOfFrame(*one));
    if (RunsItself()) Innermost()->line = python_frames.line(*one);
  }
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
  place->named_at = follower.frames.size();
  follower.open.call_ns = now_ns;
}

void NamedReturns(std::uint64_t now_ns) {
  Frame* place = Innermost();
  if (place == nullptr || !place->calling || place->named_at == 0 || place->named_at != follower.frames.size()) return;
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
  Push(frame, code);
  if (IsPlace(code)) Innermost()->line = python_frames.line(frame);
}

void OnReturn(void* frame, std::uint64_t now_ns) {
  std::vector<Frame>& frames = follower.frames;
  if (frames.empty() || frames.back().frame != frame) {  // an event was missed: look again
    Advance(now_ns);
    Flush(now_ns);
    ReadFrames(frame);
  }
  const bool was_place = RunsItself();
  if (was_place) ReadLine();
  Advance(now_ns);
  if (was_place) {
    Flush(now_ns);
    follower.places.pop_back();
  }
  frames.pop_back();
  if (RunsItself()) {
    CallEnds(now_ns);
  } else {
    NamedReturns(now_ns);
  }
  if (frames.empty()) {
    // The frame that was followed first is gone: its caller runs now.
    if (void* outer = python_frames.back(frame)) {
      ReadFrames(outer);
      python_frames.give(outer);
    }
    if (RunsItself()) Innermost()->calling = false;
  }
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

int OnEvent(void*, void* frame, int what, void* argument) noexcept {
  if (!follower.on) {  // a forked child has inherited the hook
    python.set_profile(nullptr, nullptr);
    return 0;
  }
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
    follower.frames.clear();
    follower.places.clear();
  }
  return 0;
}

template <class Function>
bool Find(Function*& function, const char* name) noexcept {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

bool FindAll() noexcept {
  python.none = dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
  return python.none != nullptr && FindCallNames() && Find(python.set_profile, "PyEval_SetProfile") &&
         Find(python.system, "PySys_GetObject") && Find(python.call, "PyObject_CallObject") &&
         Find(python.call_with, "PyObject_CallFunction");
}

// sys.getprofile() or sys.gettrace() is set.
bool HasHook(const char* getter) {
  void* const function = python.system(getter);
  void* const hook = function != nullptr ? python.call(function, nullptr) : nullptr;
  if (hook == nullptr) {
    python_frames.clear_error();
    return false;
  }
  python_frames.give(hook);
  return hook != python.none;
}

// From Python 3.12 on tools register with sys.monitoring.
bool HasMonitor() {
  constexpr int kTools = 6;
  void* const monitoring = python.system("monitoring");
  if (monitoring == nullptr) return false;
  void* const get_tool = python_frames.attribute(monitoring, "get_tool");
  bool has = false;
  for (int tool = 0; get_tool != nullptr && tool < kTools && !has; ++tool) {
    void* const name = python.call_with(get_tool, "i", tool);
    has = name != nullptr && name != python.none;
    if (name != nullptr) python_frames.give(name);
  }
  if (get_tool != nullptr) python_frames.give(get_tool);
  if (python_frames.error() != nullptr) python_frames.clear_error();
  return has;
}

const char* WhyNot() {
  static const bool found = FindAll() && pthread_atfork(nullptr, nullptr, [] { follower.on = false; }) == 0;
  if (!found) return "this Python does not tell which lines run";
  if (HasHook("getprofile")) return "the program follows its calls itself (sys.setprofile, cProfile)";
  if (HasHook("gettrace")) return "a debugger or a measurement of coverage follows the program (sys.settrace)";
  if (HasMonitor()) return "a profiler, a debugger or a measurement of coverage follows the program (sys.monitoring)";
  return nullptr;
}

void SayWhyNot(const char* reason) {
  static bool said = false;
  if (said) return;
  said = true;
  char text[160];
  std::snprintf(text, sizeof text, "lines of code between operators are not known: %s", reason);
  capture::WriteMark(wire::MarkKind::kProbeOff, text);
}

}  // namespace

bool Start() noexcept {
  if (follower.on || follower.slices >= kMaxSlices || !FindPythonFrames()) return false;
  if (python_frames.is_initialized() == 0 || python_frames.this_thread() == nullptr) return false;
  const int state = python_frames.lock();
  bool started = false;
  try {
    const bool pending = python_frames.error() != nullptr;
    const char* reason = pending ? nullptr : WhyNot();
    void* const frame = pending ? nullptr : python_frames.frame();
    if (reason != nullptr) SayWhyNot(reason);
    if (reason == nullptr && frame != nullptr) {
      ReadFrames(frame);
      follower.thread = gettid();
      follower.calls = 0;
      follower.open = {};
      follower.open.begin_ns = follower.last_ns = capture::NowNs();
      follower.on = started = true;
      python.set_profile(OnEvent, nullptr);
    }
  } catch (...) {
    started = follower.on = false;
  }
  python_frames.unlock(state);
  return started;
}

std::uint64_t Stop() noexcept {
  if (!follower.on || follower.thread != gettid()) return 0;
  const int state = python_frames.lock();
  try {
    const bool pending = python_frames.error() != nullptr;
    if (pending || !HasHook("getprofile")) python.set_profile(nullptr, nullptr);
    const std::uint64_t now_ns = capture::NowNs();
    Advance(now_ns);
    Flush(now_ns);
  } catch (...) {
  }
  follower.on = false;
  follower.frames.clear();
  follower.places.clear();
  python_frames.unlock(state);
  return follower.calls;
}

}  // namespace loopscope::follow
