#include "profiler/experiments/launch_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace loopscope {
namespace {

constexpr int kStepsToSettle = 60;  // in a pilot: half of them may turn out to be warm-up

}  // namespace

std::string DescribeWindow(const LaunchWindow& window) {
  return fmt::format("{} steps of warm-up, {} measured{}", window.warmup, window.steps,
                     window.whole_epochs ? ", in whole epochs" : "");
}

LaunchWindow PilotWindow(const ExperimentOptions& options, int run_ahead, int steps_per_epoch) {
  const int warmup = std::max(options.warmup, 2 * run_ahead);
  if (options.steps > 0) return {warmup, options.steps};
  const int least = options.auto_warmup ? std::max(options.min_steps, kStepsToSettle) : options.min_steps;
  return {warmup, std::max({least, 8 * run_ahead, steps_per_epoch})};
}

LaunchWindow FinalWindow(const ExperimentOptions& options, int run_ahead, int steps_per_epoch,
                         double fastest_ms_per_step) {
  LaunchWindow window = PilotWindow(options, run_ahead, steps_per_epoch);
  if (options.steps > 0) return window;
  const double steps_in_time =
      fastest_ms_per_step > 0 ? std::ceil(1e3 * options.min_window_s / fastest_ms_per_step) : 0;
  // Steps of microseconds must not lead to a window of millions.
  constexpr double kMostSteps = 100'000;
  window.steps = std::max(window.steps, static_cast<int>(std::min(steps_in_time, kMostSteps)));
  return window;
}

LaunchWindow WholeEpochs(LaunchWindow window, int wanted, const ExperimentOptions& options, int steps_per_epoch) {
  if (steps_per_epoch <= 0 || window.warmup + window.steps <= steps_per_epoch) return window;
  const int fewest = (options.min_steps + steps_per_epoch - 1) / steps_per_epoch;
  const int epochs = std::max(fewest, static_cast<int>(std::lround(static_cast<double>(wanted) / steps_per_epoch)));
  if (options.steps == 0) window.steps = epochs * steps_per_epoch;
  window.whole_epochs = window.steps % steps_per_epoch == 0;
  return window;
}

}  // namespace loopscope
