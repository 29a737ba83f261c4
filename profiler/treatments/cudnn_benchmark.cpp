#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"cudnn-autotune-off", "cudnn-retuning"};
constexpr std::string_view kAppliers[] = {"torch", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host& host) {
  if (host.gpus.empty()) return {};
  return {"on"};
}

}  // namespace

extern const Treatment kCudnnBenchmark{
    .id = "cudnn.benchmark",
    .summary = "let cuDNN time its convolution algorithms and take the fastest",
    .exactness = Exactness::kNumeric,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .live = true,
    .is_switch = true,
};

}  // namespace loopscope
