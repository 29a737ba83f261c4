// The report as JSON (reports/schema.json): as a tree, for formats that carry it, and reading it back.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "profiler/core/report/report.h"
#include "profiler/core/result.h"

namespace loopscope {

// By reports/schema.json; texts are as they came from outside.
nlohmann::ordered_json ReportTree(const Report& report);

inline constexpr std::string_view kReportSchemaPrefix = "loopscope.report/";
inline constexpr int kReportSchemaVersion = 1;

// Reads a report that `write` of the "json" format wrote, with a null timeline. Missing or null fields are unknown;
// fields that are not known here are ignored. Errors: not JSON, not a Loopscope report, a newer schema (named), a field
// of the wrong type (named by its JSON pointer).
Result<Report> ReadReportJson(std::string_view text);

}  // namespace loopscope
