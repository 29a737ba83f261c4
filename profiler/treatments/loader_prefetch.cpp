#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"4", "8"};
}

}  // namespace

extern const Treatment kLoaderPrefetch{
    .id = "loader.prefetch",
    .summary = "let each worker keep N batches ready",
    .exactness = Exactness::kExact,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = {},
    .appliers = kAppliers,
    .values = Values,
    .run_ahead = RunAheadFactor::kPrefetch,
};

}  // namespace loopscope
