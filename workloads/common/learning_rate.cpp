#include "workloads/common/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace loopscope::train {
namespace {

constexpr double kBaseSamples = 32;     // samples per step that `lr` is meant for
constexpr double kStartDivisor = 25;    // one-cycle and cyclic start at a 25th of the peak
constexpr double kEndDivisor = 10'000;  // and one-cycle ends near zero
constexpr double kRise = 0.3;           // the share of one-cycle that rises
constexpr double kWarmup = 0.1;         // the share of warmup-cosine that rises

double Scale(const CommonSettings& settings) {
  const double ratio = settings.batch_size * settings.accumulate / kBaseSamples;
  if (settings.lr_scale == "linear") return ratio;
  if (settings.lr_scale == "sqrt") return std::sqrt(ratio);
  return 1;
}

// From `from` to `to` along half a cosine, as `share` goes from 0 to 1.
double Anneal(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

double OneCycle(double share) {
  if (share < kRise) return Anneal(1 / kStartDivisor, 1, share / kRise);
  return Anneal(1, 1 / kEndDivisor, (share - kRise) / (1 - kRise));
}

double Cyclic(double cycles) {
  const double share = cycles - std::floor(cycles);
  return 1 / kStartDivisor + (1 - 1 / kStartDivisor) * (1 - std::abs(2 * share - 1));
}

double WarmupCosine(double share) {
  return share < kWarmup ? share / kWarmup : Anneal(1, 0, (share - kWarmup) / (1 - kWarmup));
}

}  // namespace

double LearningRate(const CommonSettings& settings, long step, long steps_per_epoch) {
  const double peak = settings.lr * Scale(settings);
  const double length =
      static_cast<double>(settings.schedule_epochs) * static_cast<double>(std::max(1L, steps_per_epoch));
  const double progress = (static_cast<double>(step) + 1) / length;
  const double share = std::min(1.0, progress);
  if (settings.schedule == "onecycle") return peak * OneCycle(share);
  if (settings.schedule == "cyclic") return peak * Cyclic(progress);
  if (settings.schedule == "warmup-cosine") return peak * WarmupCosine(share);
  return peak;
}

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
