#include <algorithm>

#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"fp32-compute"};
constexpr std::string_view kAppliers[] = {"torch", "python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host& host) {
  // Without 16-bit units the casts are pure cost.
  const auto has = [&](std::string_view feature) {
    return std::ranges::find(host.features, feature) != host.features.end();
  };
  if (!host.gpus.empty() || has("avx512_bf16") || has("amx_bf16")) return {"bf16"};
  return {};
}

}  // namespace

extern const Treatment kAmp{
    .id = "amp",
    .summary = "run the forward pass in 16-bit precision, one autocast scope per forward",
    .exactness = Exactness::kNumeric,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .live = true,
};

}  // namespace loopscope
