#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"needless-copy"};
constexpr std::string_view kAppliers[] = {"knob:train_image"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"on"};
}

}  // namespace

extern const Treatment kLoaderFromNumpy{
    .id = "loader.from_numpy",
    .summary = "use the decoded buffer as the batch instead of a copy of it",
    .exactness = Exactness::kExact,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
