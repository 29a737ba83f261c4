#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr std::string_view kCures[] = {"thread-oversubscription", "idle-processors"};
constexpr std::string_view kAppliers[] = {"environment", "knob:train_image", "knob:train_text"};
constexpr EnvironmentVariable kVariables[] = {{.name = "OMP_NUM_THREADS"}, {.name = "MKL_NUM_THREADS"}};

std::vector<std::string> Values(const Finding&, const Host& host) {
  std::vector<std::string> values{std::to_string(host.cores)};
  if (host.cores > 1) values.push_back(std::to_string(host.cores / 2));
  return values;
}

}  // namespace

extern const Treatment kThreads{
    .id = "threads",
    .summary = "compute with N threads",
    .exactness = Exactness::kNumeric,
    .condition = "",
    .metric = Metric::kStepTime,
    .cures = kCures,
    .appliers = kAppliers,
    .values = Values,
    .environment = kVariables,
};

}  // namespace loopscope
