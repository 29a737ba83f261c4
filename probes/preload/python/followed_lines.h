// Writes which line of the followed thread runs when, by the interpreter's events, to the capture
// (wire::RangeCategory::kLine). Sets no hooks. All functions but IsOn() are called on the followed thread, under the
// interpreter's lock.
#pragma once

#include <cstdint>

namespace loopscope::follow {

// Py_tracefunc's kinds of event.
enum What { kCall = 0, kLine = 2, kReturn = 3, kCallBuiltin = 4, kBuiltinRaised = 5, kBuiltinReturned = 6 };

bool IsOn() noexcept;
bool IsOnHere() noexcept;  // the calling thread is followed
// This process makes a loader's samples: if it calls a list of modules, these are named.
void FollowLoading() noexcept;

// The calling thread is followed from inside of this frame. False: out of memory, or enough has been written.
bool Begin(void* frame) noexcept;
// Writes the open stretches. Returns the cost of following, in calls.
std::uint64_t End() noexcept;
// The same without a look at the frames: a child of fork() is not followed, and an interpreter may be gone.
std::uint64_t Forget() noexcept;

void OnCallEvent(void* frame, int what, void* argument) noexcept;  // event of a hook for calls
void OnLineEvent(void* frame) noexcept;                            // a line begins

}  // namespace loopscope::follow
