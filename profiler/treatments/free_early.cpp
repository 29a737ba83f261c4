#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"late-free"};
constexpr std::string_view kAppliers[] = {"knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"on"};
}

}  // namespace

extern const Treatment kFreeEarly{
    .id = "free.early",
    .summary = "free the batch and the outputs once they were used",
    .exactness = Exactness::kExact,
    .condition = "",
    .metric = Metric::kPeakMemory,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
