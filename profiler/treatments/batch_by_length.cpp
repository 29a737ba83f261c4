#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"padding-waste"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"on"};
}

}  // namespace

extern const Treatment kBatchByLength{
    .id = "batch.by_length",
    .summary = "put texts of about one length into the same batch",
    .exactness = Exactness::kChangesTraining,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
