// Which traces of a folder are ranks of one run, and which number each of them has.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/importer.h"
#include "profiler/core/report/rank_summary.h"

namespace loopscope {

// Inputs that may each be one rank, by name: the captures or traces in a folder, else its sub-folders with captures;
// the processes of one file that record ranks. Fewer than two where the input is one rank.
std::vector<Input> RankInputs(const std::filesystem::path& folder);
std::vector<Input> RankInputsOf(const Trace& trace, const std::filesystem::path& file);

// "run/rank0.json", "trace.sqlite, pid 112".
std::string InputText(const Input& input);

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
