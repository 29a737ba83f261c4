#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"bias-before-norm"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"off"};
}

}  // namespace

extern const Treatment kBiasBeforeNormOff{
    .id = "bias.before_norm",
    .summary = "drop the bias of layers whose output goes straight into a batch norm",
    .exactness = Exactness::kNumeric,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
