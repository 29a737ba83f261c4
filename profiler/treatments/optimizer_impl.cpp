#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"single-tensor-optimizer"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"fused", "foreach"};
}

}  // namespace

extern const Treatment kOptimizerImpl{
    .id = "optimizer.impl",
    .summary = "update all parameters in few fused operations",
    .exactness = Exactness::kNumeric,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .live = true,
};

}  // namespace loopscope
