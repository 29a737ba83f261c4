#include "profiler/core/statistics/rhythm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

constexpr double kSlack = 0.05;         // of a distance; one under 20 must be exact
constexpr double kMostByChance = 0.05;  // for any distance: as many are possible as the mean distance, about

std::uint32_t SlackOf(std::uint32_t distance) {
  return static_cast<std::uint32_t>(kSlack * distance);
}

// That one number follows another at this distance, if one in `mean` is taken.
double Chance(std::uint32_t distance, double mean) {
  double chance = 0;
  for (std::uint32_t d = distance - SlackOf(distance); d <= distance + SlackOf(distance); ++d) {
    chance += std::pow(1 - 1 / mean, d - 1) / mean;
  }
  return chance;
}

}  // namespace

std::optional<std::uint32_t> RegularDistance(std::span<const std::uint32_t> numbers) {
  if (numbers.size() < 3) return std::nullopt;
  std::vector<std::uint32_t> distances;
  for (std::size_t i = 1; i < numbers.size(); ++i) distances.push_back(numbers[i] - numbers[i - 1]);
  std::ranges::sort(distances);
  const std::uint32_t distance = distances[distances.size() / 2];  // what two thirds keep to is the median, too
  if (distance < 2) return std::nullopt;
  const std::uint32_t slack = SlackOf(distance);
  const auto alike = std::ranges::count_if(
      distances, [&](std::uint32_t one) { return one >= distance - slack && one <= distance + slack; });
  const auto count = std::ssize(distances);
  if (alike < 2 || alike * 3 < count * 2) return std::nullopt;
  const double mean = static_cast<double>(numbers.back() - numbers.front()) / static_cast<double>(count);
  const double chance = BinomialTail(static_cast<int>(count), static_cast<int>(alike), Chance(distance, mean));
  return chance * mean <= kMostByChance ? std::optional(distance) : std::nullopt;
}

}  // namespace loopscope
