// Whether the program's own threads, workers and ranks stand in each other's way on the processors.
#pragma once

#include <optional>

#include "profiler/core/timeline.h"

namespace loopscope {

struct Processors {
  // The training thread was ready and had no processor because of the program itself, per step: what the kernel counts
  // as its delay, times the share of the processors' work that is the program's. Other programs' work is not its fault.
  double own_delay_ms = 0;
  double delay_ms = 0;   // because of anyone
  double own_share = 1;  // of all work on the processors, 0 to 1; all ranks of this machine count as own
  int ranks_here = 1;
};

// nullopt when the trace does not tell (probes/preload/processors.h): another format, another platform.
std::optional<Processors> ProcessorsOf(const Timeline& timeline);

}  // namespace loopscope
