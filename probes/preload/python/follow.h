// Follows the calls that the training thread makes, by the interpreter's own events (PyEval_SetProfile), and records
// which line of the program runs when (wire::RangeCategory::kLine). It slows Python down while it is on.
#pragma once

#include <cstdint>

namespace loopscope::follow {

// Follows the calling thread from now on. False: not possible here, or the program, a debugger or a measurement of
// coverage follows calls itself; the capture says so, once. Takes the interpreter's lock.
bool Start() noexcept;

// The calling thread is no longer followed. Returns the number of calls followed since Start(). What the program has
// put in place of the hook meanwhile is left alone.
std::uint64_t Stop() noexcept;

// For a hook of its own, which passes the interpreter's events on: the same without setting one. The caller holds the
// interpreter's lock, and has asked WhyNot().
bool StartInHook() noexcept;
std::uint64_t StopInHook() noexcept;
void OnEvent(void* frame, int what, void* argument) noexcept;

// Why calls cannot be followed here; null where they can. Under the interpreter's lock.
const char* WhyNot() noexcept;
// PyEval_SetProfile; null removes the hook. After WhyNot() gave null.
using Hook = int (*)(void* self, void* frame, int what, void* argument);
void SetHook(Hook hook) noexcept;
enum What { kCall = 0, kReturn = 3 };  // Py_tracefunc's kinds of event

}  // namespace loopscope::follow
