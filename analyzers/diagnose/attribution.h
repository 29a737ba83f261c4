// Whose a time is that a finding claims, so that it is counted once and only where it is lost: that of one finding of
// several (Claim in finding.h), of a busy device that hides it, of other programs on the processors.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// `findings[i]` are those of one rule. Settles their claims, each by its standing towards the reasons that were found.
void Attribute(std::span<std::vector<Finding>> findings);

// Host time that is hidden behind a busy device.

// For an analyzer whose costs are training-thread time: while a device is busy, that time costs the loop nothing, or is
// itself a wait for the device's queue. Caps costs at the devices' idle time; a finding with less than 1 % of a step
// left is clear. If the device's work is unknown, costs are bounds.
void LeaveOutHidden(const Timeline& timeline, std::vector<Finding>& findings);

// Other programs on the processors: withdraws verdicts that they make unsafe, and reports them.

// nullopt if other programs took little, or it is unknown.
std::optional<std::string> InterferenceWarning(const Timeline& timeline);

// For rules that compare step times: a finding that costs no more than other programs took from the training thread
// becomes cannot-tell.
void LeaveOutDoubtful(const Timeline& timeline, std::vector<Finding>& findings);

}  // namespace loopscope
