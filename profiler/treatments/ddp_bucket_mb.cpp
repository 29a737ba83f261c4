#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"exposed-communication"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  // Fewer and longer exchanges where each costs a round trip, or earlier ones where the last one is waited for.
  return {"100", "5"};
}

}  // namespace

extern const Treatment kDdpBucketMb{
    .id = "ddp.bucket_mb",
    .summary = "exchange gradients in buckets of N MiB",
    .exactness = Exactness::kNumeric,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
