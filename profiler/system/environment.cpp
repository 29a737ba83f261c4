#include "profiler/system/environment.h"

#include <unistd.h>

#include <string_view>

namespace loopscope {

Environment OwnEnvironment() {
  Environment environment;
  for (char** at = environ; at && *at; ++at) {
    const std::string_view one = *at;
    const std::size_t equals = one.find('=');
    if (equals != one.npos) environment.emplace(one.substr(0, equals), one.substr(equals + 1));
  }
  return environment;
}

std::vector<std::string> AsStrings(const Environment& environment) {
  std::vector<std::string> strings;
  for (const auto& [name, value] : environment) strings.push_back(name + "=" + value);
  return strings;
}

}  // namespace loopscope
