#include "profiler/core/statistics/trend.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

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
double Variance(const std::vector<double>& values) {
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
  trend.p = PValue(s, Variance(values));
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

}  // namespace loopscope
