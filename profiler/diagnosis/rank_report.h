// Many ranks as one report: each is read, put in order and summarised; then the rules over all ranks run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/core/importer.h"
#include "profiler/core/report/rank_summary.h"
#include "profiler/core/report/report.h"
#include "profiler/core/result.h"

namespace loopscope {

// As many ranks in flight as cores; of the others only their summaries are kept, and the timeline of the one with the
// longest own work per step, whose diagnosis the report is. An input that cannot be read is a warning, unless none can.
// nullopt when fewer than two ranks are left: then it is one rank's trace.
Result<std::optional<Report>> ReportOfRanks(const std::vector<Input>& inputs);

// The same from summaries, in the order of their inputs; `diagnosis_of` gives the report of the one that is shown, by
// itself. `errors`: of inputs that could not be read.
Result<std::optional<Report>> ReduceRanks(std::vector<RankSummary> all, const std::vector<Error>& errors,
                                          const std::function<Result<Report>(const std::string& input)>& diagnosis_of);

// Drops the warnings that the input holds other processes: for reports in which each has its row.
void DropOtherProcesses(Report& report);

// Which of the traces are ranks of one run, and which number each of them has.

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
