// What the HTML page shows, as one tree of JSON: the report, its texts in words, source lines, and steps to draw.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "profiler/core/report/report.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// Every text in it is printable and cut to a sensible length, whatever the report holds.
nlohmann::ordered_json PageData(const Report& report);

// Lines of the user's source around a place, only where they are surely the lines that ran.
struct SourceQuote {
  int first_line = 0;              // of `lines`; 0 when there are none
  std::vector<std::string> lines;  // printable, tabs as spaces
  std::string why_not;             // one sentence when there are none; empty when the place names no line
};

// Reads regular files with a source's extension of at most 4 MB, that were not changed since the run began.
SourceQuote QuoteSource(const Where& where, const RunInfo& run);

}  // namespace loopscope
