#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"deterministic-mode"};
constexpr std::string_view kAppliers[] = {"torch", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"off"};
}

}  // namespace

extern const Treatment kDeterministic{
    .id = "deterministic",
    .summary = "allow algorithms whose results differ from run to run",
    .exactness = Exactness::kNumeric,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .live = true,
    .is_switch = true,
};

}  // namespace loopscope
