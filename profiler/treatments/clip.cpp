#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"norm"};
}

}  // namespace

extern const Treatment kClip{
    .id = "clip",
    .summary = "clip gradients by their norm or their values",
    .exactness = Exactness::kChangesTraining,
    .condition = "",
    .metric = Metric::kTimeToTarget,
    .cures = {},
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
