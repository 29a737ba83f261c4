#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"host-sync"};
constexpr std::string_view kAppliers[] = {"python"};

std::vector<std::string> Values(const Finding&, const Host& host) {
  // On a CPU nothing runs ahead of the host, so that there is no wait to save.
  if (host.gpus.empty()) return {};
  return {"on"};
}

}  // namespace

extern const Treatment kSyncDefer;
const Treatment kSyncDefer{
    .id = "sync.defer",
    .summary = "read a logged value one step late, so that the device need not wait",
    .exactness = Exactness::kExact,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
