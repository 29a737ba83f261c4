#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"on"};
}

}  // namespace

extern const Treatment kLoaderPersistent{
    .id = "loader.persistent",
    .summary = "keep the loader's workers from one epoch to the next",
    .exactness = Exactness::kResampled,
    .condition = "",
    .metric = Metric::kEpochBoundary,
    .cures = {},
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
