// A rank in kilobytes, as two lines of JSON: what rules over ranks ask for, and the report of the rank by itself. From
// the lines of many ranks comes the report that their traces would give (profiler/diagnosis/summaries.h).
#pragma once

#include <string>
#include <string_view>

#include "profiler/core/report/rank_summary.h"
#include "profiler/core/report/report.h"
#include "profiler/core/result.h"

namespace loopscope {

inline constexpr std::string_view kSummarySchemaPrefix = "loopscope.summary/";
inline constexpr int kSummarySchemaVersion = 1;

// Both lines, each with its end. Of the report nothing is left out but the timeline.
std::string SummaryLines(const RankSummary& rank, const Report& own);

// The first of the lines. Errors: not JSON or cut short, not a summary, a newer schema (named), a field of the wrong
// type (named by its JSON pointer). The second is a report: ReadReportJson.
Result<RankSummary> ReadSummaryLine(std::string_view line);

}  // namespace loopscope
