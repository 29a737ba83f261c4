// Commands that the probes cannot follow, as far as their words tell: they start the program on another machine, in
// another world, with an environment of its own, or with an interpreter that is told to ignore it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace loopscope {

// One sentence: why, and what to do instead. Empty: nothing in the words stands against it.
std::optional<std::string> WhyUnreachable(const std::vector<std::string>& command);

}  // namespace loopscope
