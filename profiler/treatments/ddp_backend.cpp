#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"slow-backend"};
constexpr std::string_view kAppliers[] = {"python"};

std::vector<std::string> Values(const Finding&, const Host& host) {
  // NCCL refuses two ranks on one GPU.
  if (host.gpus.size() < 2) return {};
  return {"nccl"};
}

}  // namespace

extern const Treatment kDdpBackend{
    .id = "ddp.backend",
    .summary = "exchange the device's tensors through NCCL",
    .exactness = Exactness::kNumeric,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
