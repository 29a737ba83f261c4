// The report as JSON (reports/schema.json): the version that is written, and reading it back.
#pragma once

#include <string_view>

#include "profiler/core/report/report.h"
#include "profiler/core/result.h"

namespace loopscope {

inline constexpr std::string_view kReportSchemaPrefix = "loopscope.report/";
inline constexpr int kReportSchemaVersion = 1;

// The report that `write` of the "json" format made, with a null timeline. Fields that are missing or null are unknown;
// fields that are not known here are left out. Errors: not JSON, no Loopscope report, a newer schema (named), a field
// of the wrong kind (named by its JSON pointer).
Result<Report> ReadReportJson(std::string_view text);

}  // namespace loopscope
