#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"allocator-retries"};
constexpr std::string_view kAppliers[] = {"environment"};
constexpr EnvironmentVariable kVariables[] = {
    {.name = "PYTORCH_CUDA_ALLOC_CONF", .newer_name = "PYTORCH_ALLOC_CONF", .item = "expandable_segments"}};

std::vector<std::string> Values(const Finding&, const Host& host) {
  if (host.gpus.empty()) return {};
  return {"on"};
}

}  // namespace

extern const Treatment kAllocExpandable{
    .id = "alloc.expandable",
    .summary = "let the device allocator grow its blocks, so that memory does not fall apart",
    .exactness = Exactness::kExact,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
    .environment = kVariables,
};

}  // namespace loopscope
