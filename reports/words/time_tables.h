// Where the time goes as tables in Markdown.
#pragma once

#include <string>

#include "profiler/core/report/report.h"

namespace loopscope {

// The step's costliest lines and the run's parts; empty where neither is known.
std::string TimeTables(const Report& report);

}  // namespace loopscope
