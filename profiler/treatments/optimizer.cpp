#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {};  // the value is for the user to choose: --only optimizer=VALUE
}

}  // namespace

extern const Treatment kOptimizerRule{
    .id = "optimizer",
    .summary = "another update rule: sgd, momentum, adam, adamw, lars, lamb, novograd",
    .exactness = Exactness::kChangesTraining,
    .condition = "",
    .metric = Metric::kTimeToTarget,
    .cures = {},
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
