#include "profiler/core/treatment.h"

namespace loopscope {

std::string_view ExactnessName(Exactness exactness) {
  switch (exactness) {
    case Exactness::kExact:
      return "exact";
    case Exactness::kExactIf:
      return "exact-if";
    case Exactness::kResampled:
      return "resampled";
    case Exactness::kNumeric:
      return "numeric";
    case Exactness::kChangesTraining:
      return "changes-training";
  }
  return "";
}

std::string_view MetricName(Metric metric) {
  switch (metric) {
    case Metric::kEpochBoundary:
      return "epoch-boundary";
    case Metric::kPeakMemory:
      return "peak-memory";
    case Metric::kTimeToTarget:
      return "time-to-target";
    case Metric::kSampleTime:
      return "sample-time";
    case Metric::kStepTime:
      break;
  }
  return "step-time";
}

std::vector<std::string> Treatment::ValuesFor(const Finding& finding, const Host& host) const {
  if (needs_gpu && host.gpus.empty()) return {};
  if (choose != nullptr) return choose(finding, host);
  return {values.begin(), values.end()};
}

}  // namespace loopscope
