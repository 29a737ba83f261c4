// Whether a series of values rises or falls.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace loopscope {

struct Trend {
  double slope = 0;       // per value, Theil-Sen: the median of the slopes between all pairs
  double change_pct = 0;  // from the first value to the last by that slope, of the first one on the line
  double p = 1;           // two-sided, Mann-Kendall (normal approximation, ties corrected)
};

inline constexpr std::size_t kFewestForTrend = 10;

// Absent with fewer than kFewestForTrend values, or where p exceeds 0.001 (Kendall, Rank Correlation Methods, 1975;
// Sen, JASA 63, 1968). In a long series every n-th value is used, so that at most 400 are compared.
std::optional<Trend> FindTrend(std::span<const double> values);

}  // namespace loopscope
