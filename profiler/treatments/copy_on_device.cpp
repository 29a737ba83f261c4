#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"cpu-then-device"};
constexpr std::string_view kAppliers[] = {"knob:train_image"};

std::vector<std::string> Values(const Finding&, const Host& host) {
  if (host.gpus.empty()) return {};
  return {"on"};
}

}  // namespace

extern const Treatment kCopyOnDevice{
    .id = "copy.on_device",
    .summary = "draw random numbers and fill tensors on the device that uses them",
    .exactness = Exactness::kNumeric,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
