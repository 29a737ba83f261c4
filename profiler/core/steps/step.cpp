#include "profiler/core/steps/step.h"

namespace loopscope {

std::string_view PartName(Part part) {
  static constexpr std::array<std::string_view, kParts> kNames{
      "loader_wait", "h2d_copy", "forward", "backward", "optimizer", "sync_wait", "communication_exposed", "other"};
  return kNames[static_cast<std::size_t>(part)];
}

std::string_view KindName(StepKind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"warm-up", "epoch boundary", "evaluation", "not settled yet",
                                                          "usual"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace loopscope
