// Other programs on the processors: what that makes unsafe, and that it is said.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// nullopt where other programs took little, or nothing tells.
std::optional<std::string> InterferenceWarning(const Timeline& timeline);

// For rules that compare times of steps: what they found costs no more than other programs took from the training
// thread becomes cannot-tell.
void LeaveOutDoubtful(const Timeline& timeline, std::vector<Finding>& findings);

}  // namespace loopscope
