#include <unistd.h>

#include <algorithm>
#include <utility>

#include "probes/capture/records.h"
#include "probes/preload/python/code.h"
#include "probes/preload/python/follow.h"
#include "probes/preload/python/followed_frames.h"
#include "probes/preload/python/open_line.h"
#include "probes/preload/python/short_lines.h"
#include "probes/preload/python/wait_clock.h"
#include "probes/wire.h"

namespace loopscope::follow {
namespace {

constexpr std::uint64_t kOwnSliceNs = 5000;  // longer calls of one line are recorded separately
constexpr std::size_t kMaxSlices = 200'000;  // per run: a program with more is not followed further

struct Follower {
  bool on = false, loads = false;
  pid_t thread = 0;
  std::uint64_t last_ns = 0, calls = 0, lines = 0, slices = 0;
  FollowedFrames frames;
  OpenLine open;
  ShortLines shorts;  // ran before the open one, in the same place
  WaitClock waits;
} follower;

Frame* Innermost() {
  return follower.frames.innermost_place();
}
bool RunsItself() {
  return follower.frames.place_runs_itself();
}

void WriteSlice(const OpenLine& line, std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (end_ns <= begin_ns || follower.slices >= kMaxSlices) return;
  capture::WriteRange(wire::RangeCategory::kLine, line.longest_call(), begin_ns, end_ns, line.Value(end_ns - begin_ns),
                      follower.frames.StackOfPlace());
  ++follower.slices;
}

// The lines that ran too briefly to be written alone: one slice for each, one after another.
void WriteShorts() {
  Frame* place = Innermost();
  if (place != nullptr) {
    const int now_runs = place->line;
    follower.shorts.ForEach([&](const ShortLine& one, std::uint64_t begin_ns) {
      place->line = one.line;
      WriteSlice(one.open, begin_ns, begin_ns + one.ns);
    });
    place->line = now_runs;
  }
  follower.shorts.Clear();
}

// The open stretch ends at end_ns, and another begins.
void Write(std::uint64_t end_ns) {
  WriteShorts();
  if (Innermost() != nullptr) WriteSlice(follower.open, follower.open.begin_ns, end_ns);
  follower.open = OpenLine(end_ns);
}

// Time up to now_ns belongs to the line that ran, or to what it called. Long calls are written separately.
void Advance(std::uint64_t now_ns) {
  const std::uint64_t spent = now_ns - std::exchange(follower.last_ns, now_ns);
  const std::uint64_t waited = follower.waits.Spent(spent, now_ns);
  const Frame* place = Innermost();
  if (place != nullptr && place->calling) return;
  follower.open.own_ns += spent - waited;
  if (waited > 0) follower.open.AddCall(capture::StringId(wire::kThreadWait), waited);
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

// The innermost place runs its own code: reads the line. Its own time since the last event belongs to the line reached
// now.
void ReadLine() {
  Frame& place = *Innermost();
  const int line = python_frames.line(place.frame);
  if (line == place.line) return;
  Flush(follower.last_ns);
  place.line = line;
}

// The innermost place continues on another line. Calls show that too, but not lines without calls, which wait for a
// lock or write to an element of a tensor.
void OnLine(void* frame) {
  if (!RunsItself()) return;
  Frame& place = *Innermost();
  if (place.frame != frame || place.code->owner != Owner::kUser) return;
  const int line = python_frames.line(frame);
  if (line == place.line) return;
  const std::uint64_t now_ns = capture::NowNs();
  ++follower.lines;
  Advance(now_ns);
  if (follower.shorts.Add(place.line, follower.open, now_ns)) {
    follower.open = OpenLine(now_ns);
  } else {
    Write(now_ns);
  }
  place.line = line;
}

// A list of modules is a model, except where samples are made: there it is a list of transforms.
bool RunsTransforms(const Code& code) {
  return code.container == Container::kTransforms || (code.container == Container::kModules && follower.loads);
}

// The place's call continues under another name.
void Rename(Frame& place, std::uint32_t called, std::size_t named_at, std::uint64_t now_ns) {
  CallEnds(now_ns);
  place.calling = true;
  place.called = called;
  place.named_at = named_at;
  follower.open.call_ns = now_ns;
}

// A nameless wrapper calls something: its callee names the place's call until it returns.
void NameInside(void* frame, Code& code, std::uint64_t now_ns) {
  Frame* place = Innermost();
  if (place == nullptr) return;
  const std::uint32_t name = NameOfFrame(frame, code);
  if (place->calling && !place->in_container && RunsTransforms(code)) {
    place->in_container = true;
    return Rename(*place, 0, 0, now_ns);  // from here on the list's members are named
  }
  if (place->called != 0 || (place->in_container && code.module_call)) return;
  if (name != 0) Rename(*place, name, follower.frames.depth(), now_ns);
}

void NamedReturns(std::uint64_t now_ns) {
  Frame* place = Innermost();
  if (place == nullptr || !place->calling || place->named_at == 0 || place->named_at != follower.frames.depth()) return;
  Rename(*place, 0, 0, now_ns);
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
    place.in_container = RunsTransforms(code);
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

// The cost of following, in calls.
std::uint64_t Cost() {
  constexpr std::uint64_t kLinesPerCall = 4;
  return follower.calls + follower.lines / kLinesPerCall;
}

}  // namespace

bool IsOn() noexcept {
  return follower.on;
}

void FollowLoading() noexcept {
  follower.loads = true;
}

bool IsOnHere() noexcept {
  return follower.on && follower.thread == gettid();
}

bool Begin(void* frame) noexcept {
  if (follower.slices >= kMaxSlices) return false;
  try {
    follower.frames.Read(frame);
  } catch (...) {
    follower.frames.Clear();
    return false;
  }
  follower.thread = gettid();
  follower.calls = follower.lines = 0;
  follower.last_ns = capture::NowNs();
  follower.open = OpenLine(follower.last_ns);
  follower.shorts.Clear();
  follower.waits.Begin(follower.last_ns);
  follower.on = true;
  return true;
}

std::uint64_t Forget() noexcept {
  follower.on = false;
  follower.frames.Clear();
  return Cost();
}

std::uint64_t End() noexcept {
  try {
    Advance(capture::NowNs());
    Flush(follower.last_ns);
  } catch (...) {
  }
  return Forget();
}

void OnCallEvent(void* frame, int what, void* argument) noexcept {
  const std::uint64_t now_ns = capture::NowNs();
  try {
    ++follower.calls;
    ++follower.open.calls;
    if (what == kCall) {
      OnCall(frame, now_ns);
    } else if (what == kReturn) {
      OnReturn(frame, now_ns);
    } else if (what == kCallBuiltin || what == kBuiltinRaised || what == kBuiltinReturned) {
      OnBuiltin(argument, what == kCallBuiltin, now_ns);
    }
  } catch (...) {  // out of memory: the known frames may be wrong
    follower.frames.Clear();
  }
}

void OnLineEvent(void* frame) noexcept {
  try {
    OnLine(frame);
  } catch (...) {
    follower.frames.Clear();
  }
}

}  // namespace loopscope::follow
