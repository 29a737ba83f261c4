// `prove --target`.
#pragma once

#include <vector>

#include "profiler/commands/experiment_candidates.h"
#include "profiler/commands/options.h"

namespace loopscope {

// The exit code, as of any command.
Result<int> ProveToTarget(const Options& options, std::vector<Candidate> candidates);

}  // namespace loopscope
