#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kAppliers[] = {"knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"linear"};
}

}  // namespace

extern const Treatment kLrScale{
    .id = "lr.scale",
    .summary = "a learning rate that grows with the samples per step: linear, sqrt",
    .exactness = Exactness::kChangesTraining,
    .condition = "",
    .metric = Metric::kTimeToTarget,
    .cures = {},
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
