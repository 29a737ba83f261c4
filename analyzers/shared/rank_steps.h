// What rules over ranks need of each of them.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "profiler/core/report/finding.h"
#include "profiler/core/report/rank_summary.h"

namespace loopscope {

// Cannot tell, with the reason, where a rank has fewer timed steps than a rule can compare.
std::optional<Finding> TooFewSteps(std::span<const RankSummary> ranks);

// "rank 7", or "rank 7 on node3" where the ranks ran on several machines.
std::string RankText(const RankSummary& rank, std::span<const RankSummary> all);

}  // namespace loopscope
