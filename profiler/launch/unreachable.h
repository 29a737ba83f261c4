// Commands that the probes cannot follow, judged by their words: they start the program on another machine, in a
// container, with another environment, or with an interpreter that ignores the environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace loopscope {

// One sentence: why, and what to do instead. Empty: nothing in the command rules it out.
std::optional<std::string> WhyUnreachable(const std::vector<std::string>& command);

}  // namespace loopscope
