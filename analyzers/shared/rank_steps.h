// What rules over ranks need of each of them.
#pragma once

#include <optional>
#include <span>

#include "profiler/core/report/finding.h"
#include "profiler/core/report/rank_summary.h"

namespace loopscope {

// Cannot tell, with the reason, where a rank has fewer timed steps than a rule can compare.
std::optional<Finding> TooFewSteps(std::span<const RankSummary> ranks);

}  // namespace loopscope
