#include "profiler/core/statistics/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
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

}  // namespace loopscope
