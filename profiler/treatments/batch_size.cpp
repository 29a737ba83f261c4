#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"small-batch"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {};  // the user knows which sizes fit: --only batch.size=128
}

}  // namespace

extern const Treatment kBatchSize{
    .id = "batch.size",
    .summary = "train in batches of N, with the learning rate scaled by the same factor",
    .exactness = Exactness::kChangesTraining,
    .condition = "",
    .metric = Metric::kSampleTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
