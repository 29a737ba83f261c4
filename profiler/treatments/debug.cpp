#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"debug-left-on"};
constexpr std::string_view kAppliers[] = {"torch", "python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"off"};
}

}  // namespace

extern const Treatment kDebug{
    .id = "debug",
    .summary = "switch off anomaly mode and other debug switches",
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
