#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"launch-bound"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image"};

std::vector<std::string> Values(const Finding&, const Host& host) {
  if (host.gpus.empty()) return {};
  return {"on"};
}

}  // namespace

extern const Treatment kCudaGraphs{
    .id = "cuda_graphs",
    .summary = "record what a step launches and launch it as a whole; Python models are compiled for it",
    .exactness = Exactness::kNumeric,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
    .compiles = true,
};

}  // namespace loopscope
