#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"blocking-copy"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host& host) {
  if (host.gpus.empty()) return {};
  return {"on"};
}

}  // namespace

extern const Treatment kCopyNonBlocking{
    .id = "copy.non_blocking",
    .summary = "copy page-locked batches to the device without holding up the host",
    .exactness = Exactness::kExact,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .live = true,
    .is_switch = true,
};

}  // namespace loopscope
