#include "profiler/experiments/same_work.h"

#include <fmt/format.h>

#include <cmath>

namespace loopscope {
namespace {

// "optimizer#1" of "optimizer:SGD#1": a treatment or the other command may use another optimizer class.
std::string ClockWithoutClass(const std::string& clock) {
  const std::size_t colon = clock.find(':'), number = clock.rfind('#');
  if (!clock.starts_with("optimizer:") || number == clock.npos) return clock;
  return clock.substr(0, colon) + clock.substr(number);
}

}  // namespace

std::string UnequalWork(const LaunchResult& reference, const LaunchResult& result, SameWork same) {
  if (ClockWithoutClass(result.clock) != ClockWithoutClass(reference.clock)) {
    return fmt::format("its steps end with {} instead of {}", result.clock, reference.clock);
  }
  if (same.step_metric == Metric::kSampleTime)
    return result.ms_per_sample > 0 ? "" : "its samples per step are unknown";
  if (same.epochs && result.steps != reference.steps) {
    return fmt::format("{} plain steps in the window instead of {}", result.steps, reference.steps);
  }
  if (result.ms_per_sample <= 0 || reference.ms_per_sample <= 0) return "";
  const double samples = result.ms_per_step / result.ms_per_sample;
  const double usual = reference.ms_per_step / reference.ms_per_sample;
  if (std::abs(samples / usual - 1) < 1e-3) return "";
  return fmt::format("{:.1f} samples per step instead of {:.1f}", samples, usual);
}

LaunchResult HeldTo(const LaunchResult& reference, LaunchResult result, SameWork same) {
  if (!result.ok()) return result;
  if (const std::string why = UnequalWork(reference, result, same); !why.empty()) {
    result.status = {LaunchEnd::kNotComparable, why};
    result.tail.clear();
  }
  return result;
}

}  // namespace loopscope
