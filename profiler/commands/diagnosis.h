// From a trace to the report of what slows it.
#pragma once

#include <filesystem>

#include "profiler/core/report.h"
#include "profiler/core/result.h"

namespace loopscope {

// Runs the rules; with too little in the trace they say so themselves.
Report DiagnosisOf(Trace trace);

// Steps from the start until step times settle: MSER-5 (White 1997, "An effective truncation heuristic for bias
// reduction in simulation output"), the cut in batches of 5 that minimises the standard error of what is left, at most
// half of the steps; never under `least`.
int SettledAfter(const Timeline& timeline, int least);

// A folder or file as `report` takes it: a finished report's JSON, a run folder, a capture. Error (exit 2): unreadable.
Result<Report> ReportFrom(const std::filesystem::path& input);

}  // namespace loopscope
