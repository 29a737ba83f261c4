#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"wide-input"};
constexpr std::string_view kAppliers[] = {"knob:train_image"};

std::vector<std::string> Values(const Finding&, const Host& host) {
  if (host.gpus.empty()) return {};
  return {"on"};
}

}  // namespace

extern const Treatment kCopyUint8{
    .id = "copy.uint8",
    .summary = "copy 8-bit data to the device as it is and widen it there",
    .exactness = Exactness::kNumeric,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
