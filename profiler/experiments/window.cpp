#include "profiler/experiments/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace loopscope {
namespace {

constexpr int kStepsToSettle = 60;  // in a pilot: half of them may turn out to be warm-up

// The largest value that is tried of a treatment, if it is over `untreated`.
int Most(std::span<const Candidate> candidates, RunAheadFactor factor, int untreated) {
  int most = untreated;
  for (const Candidate& candidate : candidates) {
    if (candidate.treatment->run_ahead != factor) continue;
    for (const std::string& value : candidate.values) {
      int number = 0;
      std::from_chars(value.data(), value.data() + value.size(), number);
      most = std::max(most, number);
    }
  }
  return most;
}

}  // namespace

std::string DescribeWindow(const Window& window) {
  return fmt::format("{} steps of warm-up, {} measured{}", window.warmup, window.steps,
                     window.whole_epochs ? ", in whole epochs" : "");
}

int RunAhead(std::span<const Candidate> candidates, const LoaderDepth& untreated) {
  return Most(candidates, RunAheadFactor::kWorkers, untreated.workers) *
         Most(candidates, RunAheadFactor::kPrefetch, untreated.prefetch);
}

Window PilotWindow(const ExperimentOptions& options, int run_ahead, int steps_per_epoch) {
  const int warmup = std::max(options.warmup, 2 * run_ahead);
  if (options.steps > 0) return {warmup, options.steps};
  const int least = options.auto_warmup ? std::max(options.min_steps, kStepsToSettle) : options.min_steps;
  return {warmup, std::max({least, 8 * run_ahead, steps_per_epoch})};
}

Window FinalWindow(const ExperimentOptions& options, int run_ahead, int steps_per_epoch, double fastest_ms_per_step) {
  Window window = PilotWindow(options, run_ahead, steps_per_epoch);
  if (options.steps > 0) return window;
  const double steps_in_time =
      fastest_ms_per_step > 0 ? std::ceil(1e3 * options.min_window_s / fastest_ms_per_step) : 0;
  // A program of microsecond steps must not make a window of millions.
  constexpr double kMostSteps = 100'000;
  window.steps = std::max(window.steps, static_cast<int>(std::min(steps_in_time, kMostSteps)));
  return window;
}

Window WholeEpochs(Window window, int wanted, const ExperimentOptions& options, int steps_per_epoch) {
  if (steps_per_epoch <= 0 || window.warmup + window.steps <= steps_per_epoch) return window;
  const int fewest = (options.min_steps + steps_per_epoch - 1) / steps_per_epoch;
  const int epochs = std::max(fewest, static_cast<int>(std::lround(static_cast<double>(wanted) / steps_per_epoch)));
  if (options.steps == 0) window.steps = epochs * steps_per_epoch;
  window.whole_epochs = window.steps % steps_per_epoch == 0;
  return window;
}

bool ChangesRunAhead(std::span<const Candidate> candidates) {
  const SameWork same = SameWorkOf(candidates);
  return same.epochs && same.step_metric == Metric::kStepTime &&
         std::ranges::any_of(candidates,
                             [](const Candidate& one) { return one.treatment->run_ahead != RunAheadFactor::kNeither; });
}

}  // namespace loopscope
