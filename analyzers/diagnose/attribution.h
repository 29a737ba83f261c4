// Which finding owns which time, where several claim it (Claim in finding.h): it is counted once.
#pragma once

#include <span>
#include <vector>

#include "profiler/core/report/finding.h"

namespace loopscope {

// `findings[i]` are those of one rule. Settles their claims, by the standing of each beside the reasons that are found.
void Attribute(std::span<std::vector<Finding>> findings);

}  // namespace loopscope
