// Ranks that are read where their traces are, and put together elsewhere: a summary of each in kilobytes
// (reports/json/rank_summary.h), and the report that all of them give.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/report/report.h"
#include "profiler/core/result.h"

namespace loopscope {

struct Summaries {
  std::string lines;  // two for each rank
  int ranks = 0;
  std::vector<Error> errors;  // of what could not be read, while the rest could
};

// Of every rank in these inputs, each as `report` takes it: a run folder, a trace, a folder of ranks.
Summaries SummariesOf(const std::vector<std::string>& inputs);

// Whether the file begins as a summary does.
bool IsSummary(const std::filesystem::path& file);

// The report of ranks from files of summaries, or from those in folders (their other files are left aside). The same as
// that of their traces in one folder. What cannot be read is a warning in it. Error (exit 2): nothing can.
Result<Report> ReportOfSummaries(const std::vector<std::string>& inputs);

}  // namespace loopscope
