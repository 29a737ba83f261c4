// Commands that the probes cannot follow, as far as their words show: they start the program on another machine, in a
// container, with an environment of its own, or with an interpreter that is told to ignore it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace loopscope {

// One sentence: why, and what to do instead. Empty: nothing in the command rules it out.
std::optional<std::string> WhyUnreachable(const std::vector<std::string>& command);

}  // namespace loopscope
