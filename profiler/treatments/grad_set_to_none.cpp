#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"grads-zeroed"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"on"};
}

}  // namespace

extern const Treatment kGradSetToNone{
    .id = "grad.set_to_none",
    .summary = "release gradients instead of filling them with zeros",
    .exactness = Exactness::kExactIf,
    .condition =
        "every parameter gets a gradient in every step, or the optimizer has neither momentum nor weight decay",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .live = true,
    .is_switch = true,
};

}  // namespace loopscope
