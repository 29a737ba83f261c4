#include <algorithm>

#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"input-starvation"};
constexpr std::string_view kAppliers[] = {"python", "knob:train_image"};

std::vector<std::string> Values(const Finding&, const Host& host) {
  // As many as there are cores keeps up most often; more only take cores from each other.
  std::vector<std::string> values;
  for (const int workers : {host.cores, host.cores / 2, host.cores - 1, 1}) {
    const std::string value = std::to_string(workers);
    if (workers > 0 && std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return values;
}

}  // namespace

extern const Treatment kLoaderWorkers;
const Treatment kLoaderWorkers{
    .id = "loader.workers",
    .summary = "load batches in N workers beside the training thread",
    .exactness = Exactness::kResampled,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
};

}  // namespace loopscope
