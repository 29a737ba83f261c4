// Whether the program's own threads, workers and ranks stand in each other's way on the processors.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

struct Processors {
  // The training thread was ready and had no processor because of the program itself, per step: what the kernel counts
  // as its delay, times the share of the processors' work that is the program's. Other programs' work is not its fault.
  double own_delay_ms = 0;
  double delay_ms = 0;   // because of anyone
  double own_share = 1;  // of all work on the processors, 0 to 1; all ranks of this machine count as own
  int ranks_here = 1;
};

// The share of the measured steps' time, 0 to 1, in which the training thread was ready and had no processor; nullopt
// when the facts (of Trace or RankSummary) do not tell.
std::optional<double> ProcessorDelayShare(const std::map<std::string, std::string>& facts);

// nullopt when the trace does not tell (probes/preload/process/processors.h): another format, another platform.
std::optional<Processors> ProcessorsOf(const Timeline& timeline);

}  // namespace loopscope
