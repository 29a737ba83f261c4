#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kAppliers[] = {"knob:train_image"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"batch"};
}

}  // namespace

extern const Treatment kNormBatch{
    .id = "norm",
    .summary = "batch norm after each convolution, or none",
    .exactness = Exactness::kChangesTraining,
    .condition = "",
    .metric = Metric::kTimeToTarget,
    .cures = {},
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
