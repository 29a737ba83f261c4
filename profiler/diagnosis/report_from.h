// The report of existing data: a run folder, a trace, a folder of ranks, a report's JSON.
#pragma once

#include <filesystem>

#include "profiler/core/report/report.h"
#include "profiler/core/result.h"

namespace loopscope {

// A folder or file as `report` takes it: a finished report's JSON, a run folder, a capture, summaries of ranks. Error
// (exit 2): unreadable.
Result<Report> ReportFrom(const std::filesystem::path& input);

// Adds the timeline of the run that a finished report in the folder `input` describes, if its capture is still there
// and `report` has none.
void AddTimeline(const std::filesystem::path& input, Report& report);

}  // namespace loopscope
