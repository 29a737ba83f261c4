// Decides which finding owns a time that several claim (Claim in finding.h), so that it is counted once.
#pragma once

#include <span>
#include <vector>

#include "profiler/core/report/finding.h"

namespace loopscope {

// `findings[i]` are those of one rule. Settles their claims, each by its standing towards the reasons that were found.
void Attribute(std::span<std::vector<Finding>> findings);

}  // namespace loopscope
