#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kAppliers[] = {"python"};

// input-starvation names it where the samples are known to be rows of tensors.
std::vector<std::string> Values(const Finding& finding, const Host&) {
  if (finding.treatment_id != "loader.rows") return {};
  return {"batch"};
}

}  // namespace

extern const Treatment kLoaderRows{
    .id = "loader.rows",
    .summary = "fetch rows of tensors in memory a batch at a time",
    .exactness = Exactness::kExact,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = {},
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
