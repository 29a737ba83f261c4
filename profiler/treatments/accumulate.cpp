#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"memory-bound-batch"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {};  // the number is for the user to choose: --only accumulate=4
}

}  // namespace

extern const Treatment kAccumulate{
    .id = "accumulate",
    .summary = "step the optimizer after every N backward passes",
    .exactness = Exactness::kChangesTraining,
    .condition = "",
    .metric = Metric::kSampleTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
