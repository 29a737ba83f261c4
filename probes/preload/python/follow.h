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

}  // namespace loopscope::follow
