#include "profiler/core/statistics/series.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

constexpr std::size_t kMost = 400;
constexpr double kSignificant = 0.001;

double MedianInPlace(std::vector<double>& values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The variance of Kendall's S, with ties.
double KendallVariance(const std::vector<double>& values) {
  const auto term = [](double n) { return n * (n - 1) * (2 * n + 5); };
  std::map<double, double> equal;
  for (const double value : values) equal[value] += 1;
  double variance = term(static_cast<double>(values.size()));
  for (const auto& [value, count] : equal) variance -= term(count);
  return variance / 18;
}

double PValue(double s, double variance) {
  if (variance <= 0) return 1;
  const double z = std::max(std::abs(s) - 1, 0.0) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2.0));
}

}  // namespace

std::optional<Trend> FindTrend(std::span<const double> all) {
  const std::size_t every = (all.size() + kMost - 1) / kMost;
  std::vector<double> values, slopes;
  for (std::size_t i = 0; i < all.size(); i += every) values.push_back(all[i]);
  if (values.size() < kFewestForTrend) return std::nullopt;
  double s = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      const double rise = values[j] - values[i];
      s += rise > 0 ? 1 : rise < 0 ? -1 : 0;
      slopes.push_back(rise / static_cast<double>((j - i) * every));
    }
  }
  Trend trend;
  trend.p = PValue(s, KendallVariance(values));
  if (trend.p > kSignificant) return std::nullopt;
  trend.slope = MedianInPlace(slopes);
  std::vector<double> starts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    starts.push_back(values[i] - trend.slope * static_cast<double>(i * every));
  }
  const double first = MedianInPlace(starts);
  if (first <= 0) return std::nullopt;
  trend.change_pct = 100 * trend.slope * static_cast<double>(all.size() - 1) / first;
  return trend;
}

namespace {

double Spread(std::span<const double> values) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < values.size(); ++i) steps.push_back(std::abs(values[i] - values[i - 1]));
  const double typical = Median(steps) / 0.6745 / std::sqrt(2.0);
  // More than half of the neighbours are equal: values were rounded.
  return typical > 0 ? typical : Mean(steps) / std::sqrt(2.0);
}

// Limits each value to three spreads from the median of its neighbours, so that one bad launch does not make a level.
std::vector<double> Tamed(std::span<const double> values, double spread) {
  std::vector<double> tamed;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t begin = i < 2 ? 0 : i - 2, end = std::min(i + 3, values.size());
    const double center = Median(
        {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)});
    tamed.push_back(std::clamp(values[i], center - 3 * spread, center + 3 * spread));
  }
  return tamed;
}

// Prefix sums, so that the cost of any stretch takes constant time.
class Costs {
 public:
  Costs(std::span<const double> values, double spread) : sums_(values.size() + 1), squares_(values.size() + 1) {
    const double center = Median({values.begin(), values.end()});  // keeps the squares small
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double scaled = (values[i] - center) / spread;
      sums_[i + 1] = sums_[i] + scaled;
      squares_[i + 1] = squares_[i] + scaled * scaled;
    }
  }

  // Squared deviations from the mean of values[begin … end).
  double Of(std::size_t begin, std::size_t end) const {
    const double sum = sums_[end] - sums_[begin];
    return squares_[end] - squares_[begin] - sum * sum / static_cast<double>(end - begin);
  }

 private:
  std::vector<double> sums_, squares_;
};

}  // namespace

std::vector<std::size_t> ChangePoints(std::span<const double> values, std::size_t least) {
  const std::size_t n = values.size();
  least = std::max<std::size_t>(least, 1);
  if (n < 2 * least) return {};
  const double spread = Spread(values);
  if (!(spread > 0)) return {};
  const Costs costs(Tamed(values, spread), spread);
  const double penalty = 3 * std::log(static_cast<double>(n));
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> best(n + 1, kNever);  // of the first `end` values
  std::vector<std::size_t> from(n + 1, 0);
  best[0] = -penalty;
  for (std::size_t end = least; end <= n; ++end) {
    for (std::size_t begin = 0; begin + least <= end; ++begin) {
      const double cost = best[begin] + costs.Of(begin, end) + penalty;
      if (cost < best[end]) {
        best[end] = cost;
        from[end] = begin;
      }
    }
  }
  std::vector<std::size_t> changes;
  for (std::size_t at = from[n]; at > 0; at = from[at]) changes.push_back(at);
  std::ranges::reverse(changes);
  return changes;
}

namespace {

constexpr std::size_t kBatch = 5;

std::vector<double> BatchMeans(std::span<const double> steps) {
  std::vector<double> means;
  for (std::size_t at = 0; at + kBatch <= steps.size(); at += kBatch) {
    means.push_back(Mean(steps.subspan(at, kBatch)));
  }
  return means;
}

// The squared standard error of the mean, up to a factor.
double SquaredError(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / (n * n);
}

}  // namespace

int SettledAfter(std::span<const double> steps) {
  const std::vector<double> means = BatchMeans(steps);
  const std::span<const double> all(means);
  std::size_t best = 0;
  for (std::size_t cut = 1; cut <= means.size() / 2; ++cut) {
    if (SquaredError(all.subspan(cut)) < SquaredError(all.subspan(best))) best = cut;
  }
  return static_cast<int>(best * kBatch);
}

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
