#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"activation-memory"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"on"};
}

}  // namespace

extern const Treatment kReluInplace{
    .id = "relu.inplace",
    .summary = "let ReLU layers overwrite their input",
    .exactness = Exactness::kExact,
    .condition = "",
    .metric = Metric::kPeakMemory,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
