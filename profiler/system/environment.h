// The variables of an environment.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace loopscope {

using Environment = std::map<std::string, std::string>;

Environment OwnEnvironment();
std::vector<std::string> AsStrings(const Environment& environment);  // "NAME=value"

}  // namespace loopscope
