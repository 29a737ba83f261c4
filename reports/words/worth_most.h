// The most valuable changes, for the top of a report.
#pragma once

#include <string>
#include <vector>

#include "profiler/core/report/report.h"

namespace loopscope {

// At most three lines, the largest first; each names its place where that is known. Printable.
std::vector<std::string> LargestGains(const Report& report);       // of single fixes that were measured to help
std::vector<std::string> CostliestFindings(const Report& report);  // after the one that leads the report

}  // namespace loopscope
