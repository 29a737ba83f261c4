#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"onecycle"};
}

}  // namespace

extern const Treatment kSchedule{
    .id = "schedule",
    .summary = "a learning rate that changes over time: onecycle, cyclic, warmup-cosine",
    .exactness = Exactness::kChangesTraining,
    .condition = "",
    .metric = Metric::kTimeToTarget,
    .cures = {},
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
