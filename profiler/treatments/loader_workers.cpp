#include <algorithm>

#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"input-starvation", "too-many-workers"};
constexpr int kMostWorkers = 16;
constexpr std::string_view kAppliers[] = {"python", "knob:train_image", "knob:train_text"};

std::vector<std::string> Values(const Finding&, const Host& host) {
  // Launches search for the optimum. One worker per core keeps up most often, and more only compete for the cores; no
  // loader was seen to gain from more than 16.
  std::vector<std::string> values;
  for (int workers = std::clamp(host.cores, 1, kMostWorkers); workers > 0; workers /= 2) {
    values.push_back(std::to_string(workers));
  }
  return values;
}

}  // namespace

extern const Treatment kLoaderWorkers{
    .id = "loader.workers",
    .summary = "load batches in N workers beside the training thread",
    .exactness = Exactness::kResampled,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .run_ahead = RunAheadFactor::kWorkers,
};

}  // namespace loopscope
