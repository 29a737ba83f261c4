#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"host-sync", "loss-reduction"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding& finding, const Host& host) {
  // On a CPU nothing runs ahead of the host: the only wait to save is that for other ranks.
  if (host.gpus.empty() && finding.rule != "loss-reduction") return {};
  return {"on"};
}

}  // namespace

extern const Treatment kSyncDefer{
    .id = "sync.defer",
    .summary = "read a logged value one step late, so that nothing waits for it",
    .exactness = Exactness::kExact,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .is_switch = true,
};

}  // namespace loopscope
