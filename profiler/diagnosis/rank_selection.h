// Which of the traces are ranks of one run, and which number each of them has.
#pragma once

#include <string>
#include <vector>

#include "profiler/core/report/rank_summary.h"

namespace loopscope {

// Ranks that belong together, by number, and warnings about the rest.
struct RankSelection {
  std::vector<RankSummary> ranks;
  std::vector<std::string> warnings;
};

// Drops what trained nothing beside ranks that did (launchers, workers) and what belongs to another run than most:
// another program, another number of ranks, a start more than ten minutes away. Numbers are taken from the traces, else
// from the names of files ("rank3", "rank_3"), else from their only device, else counted. Ranks that are missing from 0
// … N−1 are named.
RankSelection SelectRanks(std::vector<RankSummary> all);

}  // namespace loopscope
