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

}  // namespace loopscope
