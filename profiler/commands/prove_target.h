// `prove --target`.
#pragma once

#include <vector>

#include "profiler/cli/options.h"
#include "profiler/experiments/candidates.h"

namespace loopscope {

// Returns the exit code, like any command.
Result<int> ProveToTarget(const Options& options, std::vector<Candidate> candidates);

}  // namespace loopscope
