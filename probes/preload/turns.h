// Turns: programs that are compared run side by side, one at a time. At the end of each turn this one waits until the
// launcher gives it the next; meanwhile the launcher stops all of its threads and processes. Time spent waiting does
// not count: the loop's own time stands still.
#pragma once

#include <cstdint>

namespace loopscope::turns {

// Reads the length of a turn (env::kTurns); without one, the functions below do nothing.
void Start() noexcept;

// A step ended, on this thread; no lock is held. `opens`: the window begins with it; `closes`: it is over. Returns when
// it is this program's turn, or at once when the launcher is gone. The first step ends a turn, too: programs that warm
// up beside each other, with more threads than processors, take many times as long.
void StepEnded(bool opens, bool closes) noexcept;

// The next step may be the last one of this turn.
bool EndsNext() noexcept;

// Nanoseconds spent waiting before `time_ns`, which is no older than the turn before this one.
std::uint64_t WaitedNs(std::uint64_t time_ns) noexcept;

}  // namespace loopscope::turns
