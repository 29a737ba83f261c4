// Follows the calls that the training thread makes and the lines that it reaches, by the interpreter's own events
// (PyEval_SetProfile, PyEval_SetTrace), and records which line of the program runs when. It slows Python down while it
// is on.
#pragma once

#include <cstdint>

namespace loopscope::follow {

// Follows the calling thread from now on. False: not possible here, or the program, a debugger or a measurement of
// coverage follows calls itself; the capture says so, once. Takes the interpreter's lock.
bool Start() noexcept;

// The calling thread is no longer followed. Returns its cost since Start(), in calls. Hooks that the program has set
// meanwhile are kept.
std::uint64_t Stop() noexcept;

// The same without setting a hook, for a caller whose own hook passes on call events (OnCallEvent). The caller holds
// the interpreter's lock, and has called WhyNot().
bool StartInHook() noexcept;
std::uint64_t StopInHook() noexcept;

// Why calls cannot be followed here; null where they can. Under the interpreter's lock.
const char* WhyNot() noexcept;
// PyEval_SetProfile; null removes the hook. After WhyNot() gave null.
using Hook = int (*)(void* self, void* frame, int what, void* argument);
void SetHook(Hook hook) noexcept;

// Writes which line of the followed thread runs when, by the interpreter's events, to the capture
// (wire::RangeCategory::kLine). Sets no hooks. The functions below but IsOn() and ChildBegins() are called on the
// followed thread, under the interpreter's lock.

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

// Follows the calls of a loader's worker for a few batches: shows the lines of the data set, the transforms and the
// collate function that take the time.

// A forked child begins. Does nothing unless it is a worker of torch's loaders. Under the interpreter's lock.
void ChildBegins() noexcept;

}  // namespace loopscope::follow

namespace loopscope {

// Detects others that follow the program's calls: the program itself, a debugger, a coverage tool. Called under the
// interpreter's lock, with no exception pending.
bool HasProfileHook() noexcept;  // sys.setprofile, cProfile
bool HasTraceHook() noexcept;    // sys.settrace, pdb, coverage
// The owner of an existing hook of any kind, as the end of a sentence; null if there is none.
const char* HookInUse() noexcept;
// Records it in the capture, once.
void SayLinesAreUnknown(const char* reason) noexcept;

// Whether this process's Python has what this needs.
bool FindHookGetters() noexcept;

}  // namespace loopscope
