// Whether the program's own threads, workers and ranks compete for the processors.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

struct Processors {
  // Time per step for which the training thread was runnable without a processor because of the program itself: the
  // kernel's delay count, times the program's share of the processors' work. Other programs' work does not count.
  double own_delay_ms = 0;
  double delay_ms = 0;    // because of any program
  double delay_pct = 0;   // of the time: the same
  double own_share = 1;   // of all work on the processors, 0 to 1; all ranks of this machine count as own
  double others_pct = 0;  // of the time, for which the training thread had no processor because of other programs
  double others = 0;      // processors that other programs used, on average
  double busy = 0;        // processors that worked, on average, of any program
  std::optional<std::int64_t> physical = {};  // cores that the program may use, siblings counted once
  int ranks_here = 1;
};

// The share of the measured steps' time, 0 to 1, for which the training thread was runnable without a processor;
// nullopt when the facts (of Trace or RankSummary) do not record it.
std::optional<double> ProcessorDelayShare(const std::map<std::string, std::string>& facts);

// nullopt when the trace does not record it (probes/preload/process/usage.h): another format, another platform.
std::optional<Processors> ProcessorsOf(const Timeline& timeline);

// Other programs kept the training thread from running for 5 % of the time, or used a fifth of the processors where
// hardly any was free, so that the threads of its operators had to wait. False if it is unknown.
bool OthersInterfere(const Timeline& timeline);
inline constexpr double kMinOthersPct = 5;

// "1 thread", "2 ranks of 4 threads".
std::string ThreadsText(std::int64_t threads, int ranks);

}  // namespace loopscope
