// Lines of the user's source around a place, only where they are surely the lines that ran.
#pragma once

#include <string>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

struct SourceQuote {
  int first_line = 0;              // of `lines`; 0 when there are none
  std::vector<std::string> lines;  // printable, tabs as spaces
  std::string why_not;             // one sentence when there are none; empty when the place names no line
};

// Reads regular files with a source's extension of at most 4 MB, that were not changed since the run began.
SourceQuote QuoteSource(const Where& where, const RunInfo& run);

}  // namespace loopscope
