#include "workloads/common/lr_find.h"

#include <cmath>
#include <cstddef>

namespace loopscope::train {
namespace {

constexpr double kRange = 100;      // either way
constexpr double kSmoothing = 0.9;  // of the running mean
constexpr std::size_t kFewest = 10;
constexpr double kSafety = 10;

}  // namespace

double RateOfSearch(double lr, int step) {
  return lr * std::pow(kRange, 2.0 * step / (kFindSteps - 1) - 1);
}

double RateFound(double lr, const std::vector<double>& losses) {
  double mean = 0, lowest = HUGE_VAL;
  std::size_t at = 0;
  for (std::size_t step = 0; step < losses.size() && std::isfinite(losses[step]); ++step) {
    mean = kSmoothing * mean + (1 - kSmoothing) * losses[step];
    const double smooth = mean / (1 - std::pow(kSmoothing, static_cast<double>(step + 1)));
    if (smooth >= lowest) continue;
    lowest = smooth;
    at = step;
  }
  return at < kFewest ? lr : RateOfSearch(lr, static_cast<int>(at)) / kSafety;
}

}  // namespace loopscope::train
