// Follows the calls that the training thread makes and the lines that it reaches, by the interpreter's own events
// (PyEval_SetProfile, PyEval_SetTrace), and records which line of the program runs when. It slows Python down while it
// is on.
#pragma once

#include <cstdint>

#include "probes/preload/python/followed_lines.h"

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

}  // namespace loopscope::follow
