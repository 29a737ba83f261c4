#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kAppliers[] = {"knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {};  // the value is for the user to choose: --only model.size=VALUE
}

}  // namespace

extern const Treatment kModelSize{
    .id = "model.size",
    .summary = "a smaller or larger network",
    .exactness = Exactness::kChangesTraining,
    .condition = "",
    .metric = Metric::kTimeToTarget,
    .cures = {},
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
