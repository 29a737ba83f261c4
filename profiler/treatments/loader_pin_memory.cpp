#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"pageable-copy"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host& host) {
  if (host.gpus.empty()) return {};
  return {"on", "off"};
}

}  // namespace

extern const Treatment kLoaderPinMemory{
    .id = "loader.pin_memory",
    .summary = "give batches in page-locked memory, from where a device copies faster",
    .exactness = Exactness::kExact,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
