// Whether a command can be rerun: input that only the first start can read would make reruns different
// programs.
#pragma once

#include <string>
#include <vector>

#include "profiler/core/result.h"

namespace loopscope {

// Error (exit 2): the command names a descriptor (/dev/fd/63, as a shell's `<(…)` does; `2>&5` in the text of `sh -c`)
// or standard input (/dev/stdin, `python -`), which reruns do not have.
Result<void> CheckRerunnable(const std::vector<std::string>& command);

}  // namespace loopscope
