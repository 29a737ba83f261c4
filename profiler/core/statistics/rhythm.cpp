#include "profiler/core/statistics/rhythm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

constexpr double kSlack = 0.05;         // as a share of the distance; one under 20 must be exact
constexpr double kMostByChance = 0.05;  // over all distances: about as many are possible as the mean distance

struct Fit {
  int once = 0, alike = 0;  // distances like it, and like a multiple of it: one in between was missed
  std::uint32_t slack = 0;  // that they need
};

Fit FitOf(std::uint32_t distance, const std::vector<std::uint32_t>& distances) {
  Fit fit;
  for (const std::uint32_t one : distances) {
    const std::uint32_t times = std::max((one + distance / 2) / distance, 1u), like = times * distance;
    const std::uint32_t off = one > like ? one - like : like - one;
    if (off > static_cast<std::uint32_t>(kSlack * distance)) continue;
    ++fit.alike;
    fit.once += times == 1;
    fit.slack = std::max(fit.slack, off);
  }
  return fit;
}

// The chance that one follows another at this distance or a multiple up to `longest`, with one in `mean` places.
double Chance(std::uint32_t distance, std::uint32_t slack, std::uint32_t longest, double mean) {
  double chance = 0;
  for (std::uint32_t like = distance; like <= longest + slack; like += distance) {
    for (std::uint32_t d = like - slack; d <= like + slack; ++d) chance += std::pow(1 - 1 / mean, d - 1) / mean;
  }
  return chance;
}

}  // namespace

std::optional<std::uint32_t> RegularDistance(std::vector<std::uint32_t> distances) {
  std::ranges::sort(distances);
  const auto count = static_cast<int>(distances.size());
  const double mean = std::accumulate(distances.begin(), distances.end(), 0.0) / count;
  std::optional<std::uint32_t> best;
  double least = kMostByChance;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const std::uint32_t distance = distances[i];
    if (distance < 2 || (i > 0 && distance == distances[i - 1])) continue;
    const Fit fit = FitOf(distance, distances);
    if (fit.once < 2 || fit.alike * 3 < count * 2) continue;
    const double chance = Chance(distance, fit.slack, distances.back(), mean);
    const double by_chance = BinomialTail(count, fit.alike, chance) * mean;
    if (by_chance > least) continue;
    least = by_chance;
    best = distance;
  }
  return best;
}

}  // namespace loopscope
