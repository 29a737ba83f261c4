// Time that two rules found is counted once, for the rule that knows more about it.
#pragma once

#include <span>
#include <vector>

#include "profiler/core/analyzer.h"

namespace loopscope {

// `findings[i]` are those of `analyzers[i]`.
void CountOnce(std::span<const Analyzer* const> analyzers, std::vector<std::vector<Finding>>& findings);

}  // namespace loopscope
