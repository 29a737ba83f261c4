#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"needless-recompute"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding& finding, const Host&) {
  return {finding.rule == "needless-recompute" ? "off" : "on"};
}

}  // namespace

extern const Treatment kCheckpoint{
    .id = "checkpoint",
    .summary = "keep activations, or compute them again in the backward pass",
    .exactness = Exactness::kExactIf,
    .condition = "no batch norm inside of what is recomputed",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
