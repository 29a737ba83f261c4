// A catalogue of runs over many days and machines: one SQLite file that gates add their workloads to, and reports
// themselves.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiler/core/report/gate.h"
#include "profiler/core/result.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

struct HistoryFinding {
  std::string rule, severity, title;
  double ms_per_step = 0, pct = 0;  // its cost; of the step
};

// One workload of one gate, or the run of one report. Slowdowns are shares.
struct HistoryRun {
  std::string time;                   // ISO 8601, UTC
  std::string command;                // as it could be typed
  std::string machine;                // "AMD EPYC, 2 cores, torch 2.11.0": times of two machines are two series
  std::string verdict;                // of a gate; "" for a report
  std::optional<double> ms_per_step;  // for a gate the candidate's, median of its launches; none: not timed
  std::optional<double> slowdown, upper95;
  int pairs = 0;
  int failed_counters = 0;
  std::string report = {};                    // identifies the report; "" for a gate
  std::vector<HistoryFinding> findings = {};  // of a report, costliest first
};

std::vector<HistoryRun> HistoryOf(const GateFacts& gate, const RunInfo& run);
std::string MachineText(const RunInfo& run);

// <folder>/history.sqlite, made when it is missing. Several may add to it at once. Skips a report that it already
// holds; returns how many runs were added. Errors (exit 2): the folder or the file cannot be made, written or
// understood.
Result<int> AppendHistory(const std::filesystem::path& folder, const std::vector<HistoryRun>& runs);

// In the order in which they were added. Error (exit 2): no history there, or one that cannot be read.
Result<std::vector<HistoryRun>> ReadHistory(const std::filesystem::path& folder);

}  // namespace loopscope
