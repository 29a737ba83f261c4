// A rank in kilobytes, as two lines of JSON: the data for rules over ranks, and the rank's own report. The lines of
// many ranks reduce to the report that their traces would give (profiler/diagnosis/summaries.h).
#pragma once

#include <string>
#include <string_view>

#include "profiler/core/report/rank_summary.h"
#include "profiler/core/report/report.h"
#include "profiler/core/result.h"

namespace loopscope {

inline constexpr std::string_view kSummarySchemaPrefix = "loopscope.summary/";
inline constexpr int kSummarySchemaVersion = 1;

// Both lines, each with its line end. The report is complete except for the timeline.
std::string SummaryLines(const RankSummary& rank, const Report& own);

// The first of the lines. Errors: not JSON or cut short, not a summary, a newer schema (named), a field of the wrong
// type (named by its JSON pointer). The second is a report: ReadReportJson.
Result<RankSummary> ReadSummaryLine(std::string_view line);

}  // namespace loopscope
