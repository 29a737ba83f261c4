#include "profiler/core/report/target.h"

#include <fmt/format.h>

namespace loopscope {

std::string TargetText(const Target& target) {
  return fmt::format("{} {} {:g}", target.metric, target.at_least ? ">=" : "<=", target.value);
}

}  // namespace loopscope
