// The few things that a reader should do first.
#pragma once

#include <string>
#include <vector>

#include "profiler/core/report.h"

namespace loopscope {

// At most three lines, the largest first: what single fixes were measured to bring, or where nothing was measured yet
// the costliest findings. Each names its place where that is known. Printable, on one line.
std::vector<std::string> WorthMost(const Report& report);

}  // namespace loopscope
