// Other programs on the processors: withdraws verdicts that they make unsafe, and reports them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// nullopt if other programs took little, or it is unknown.
std::optional<std::string> InterferenceWarning(const Timeline& timeline);

// For rules that compare step times: a finding that costs no more than other programs took from the training thread
// becomes cannot-tell.
void LeaveOutDoubtful(const Timeline& timeline, std::vector<Finding>& findings);

}  // namespace loopscope
