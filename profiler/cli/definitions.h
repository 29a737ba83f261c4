// `--definitions`: the definitions of a report's GPU figures.
#pragma once

#include <string>

#include "profiler/core/report/report.h"
#include "profiler/core/result.h"

namespace loopscope {

// "loopscope" leaves the report as it is; "hta" gives its `gpu` by the definitions of Holistic Trace Analysis. Error
// (exit 2): another name, or a report whose trace is not available.
Result<void> ApplyDefinitions(const std::string& definitions, Report& report);

}  // namespace loopscope
