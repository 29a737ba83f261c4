#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"launch-bound"};
constexpr std::string_view kAppliers[] = {"python"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"on"};
}

}  // namespace

extern const Treatment kCompile{
    .id = "compile",
    .summary = "compile the model at its first training step",
    .exactness = Exactness::kNumeric,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
    .compiles = true,
};

}  // namespace loopscope
