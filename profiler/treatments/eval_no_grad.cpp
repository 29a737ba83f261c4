#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"grad-in-eval"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host&) {
  return {"on"};
}

}  // namespace

extern const Treatment kEvalNoGrad{
    .id = "eval.no_grad",
    .summary = "evaluate without recording a graph",
    .exactness = Exactness::kExactIf,
    .condition = "no operator takes a fused path that exists only without a graph",
    .metric = Metric::kEpochBoundary,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
