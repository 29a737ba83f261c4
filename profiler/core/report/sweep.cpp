#include "profiler/core/report/sweep.h"

#include <array>

namespace loopscope {

std::string_view CellVerdictName(CellVerdict verdict) {
  constexpr std::array<std::string_view, 5> kNames = {"measured", "best", "not-applicable", "failed", "left-out"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

}  // namespace loopscope
