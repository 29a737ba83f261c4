// Programs side by side, one of them at a time: each goes on for a turn of steps while all threads and processes of the
// others are stopped, so that each has the machine to itself and disturbances affect all of them alike.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/system/signals.h"

namespace loopscope {

// One of the programs, followed by one of our processes (the keeper).
struct TurnTaker {
  pid_t keeper = -1;          // the programs' processes are those below it
  int over = -1, begin = -1;  // the named pipes of probes/environment.h, open for reading and writing
  int result = -1;            // what the keeper writes, until its end
  std::string written;        // … so far
  int turns = 0;              // taken in the program's window, plus the one up to it
  bool ended = false;         // the keeper closed its pipe
  bool waits = false;         // the program waits for its next turn
  bool warms_up = false;      // … which is its warm-up
  std::vector<pid_t> stopped;
};

// Starts from programs that are starting up, all at once; returns when every keeper has ended. All wait for each other
// after their first step, where their windows open and where they close; each warms up alone, and `rounds` rounds give
// each a turn in its window, in a new random order.
// An interrupt is passed on to the keepers, which end their programs.
void TakeTurns(std::span<TurnTaker> takers, int rounds, std::uint64_t seed, Signals& signals);

}  // namespace loopscope
