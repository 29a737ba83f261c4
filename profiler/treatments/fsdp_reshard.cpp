#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"needless-resharding"};
constexpr std::string_view kAppliers[] = {"python"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"off"};
}

}  // namespace

extern const Treatment kFsdpReshard{
    .id = "fsdp.reshard",
    .summary = "keep gathered parameters from the forward to the backward pass",
    .exactness = Exactness::kExact,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
