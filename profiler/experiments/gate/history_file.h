// The history of gates over many days: one SQLite file that each run adds its workloads to.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiler/core/report/gate.h"
#include "profiler/core/result.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// One workload of one gate. Slowdowns are shares.
struct HistoryRun {
  std::string time;     // ISO 8601, UTC
  std::string command;  // as it could be typed
  std::string machine;  // "AMD EPYC, 2 cores, torch 2.11.0": times of two machines are two series
  std::string verdict;
  std::optional<double> ms_per_step;  // of the candidate: the median of its launches; none when nothing was timed
  std::optional<double> slowdown, upper95;
  int pairs = 0;
  int failed_counters = 0;
};

std::vector<HistoryRun> HistoryOf(const GateFacts& gate, const RunInfo& run);

// <folder>/history.sqlite, made when it is missing. Several gates may add to it at once. Errors (exit 2): the folder or
// the file cannot be made, written or understood.
Result<void> AppendHistory(const std::filesystem::path& folder, const std::vector<HistoryRun>& runs);

// In the order in which they were added. Error (exit 2): no history there, or one that cannot be read.
Result<std::vector<HistoryRun>> ReadHistory(const std::filesystem::path& folder);

}  // namespace loopscope
