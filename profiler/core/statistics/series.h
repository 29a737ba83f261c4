// Series of values: whether they rise or fall, where their level changes, when they settle, whether what happens now
// and then keeps a regular distance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace loopscope {

// Whether a series of values rises or falls.
struct Trend {
  double slope = 0;       // per value, Theil-Sen: the median of the slopes between all pairs
  double change_pct = 0;  // from the first value to the last by that slope, of the first one on the line
  double p = 1;           // two-sided, Mann-Kendall (normal approximation, ties corrected)
};

inline constexpr std::size_t kFewestForTrend = 10;

// Absent with fewer than kFewestForTrend values, or where p exceeds 0.001 (Kendall, Rank Correlation Methods, 1975;
// Sen, JASA 63, 1968). In a long series every n-th value is used, so that at most 400 are compared.
std::optional<Trend> FindTrend(std::span<const double> values);

// Where the level of a series changes.

// The first index of each new level, ascending: the partition into levels that minimises the squared deviations from
// each level's mean plus a penalty per change (optimal partitioning: Jackson et al. 2005, IEEE Signal Processing
// Letters 12; the problem that PELT solves faster: Killick, Fearnhead and Eckley 2012, J. Am. Stat. Assoc. 107). The
// spread of the values comes from the differences of neighbours (median / 0.6745 / sqrt 2), so that changes of level do
// not widen it; the penalty is 3 ln n squared spreads (the leading term of Zhang and Siegmund 2007, Biometrics 63). A
// level lasts at least `least` values. Empty for fewer than 2 * least values, and for a series that does not vary.
std::vector<std::size_t> ChangePoints(std::span<const double> values, std::size_t least = 3);

// When a program's steps settle after its start.

// How many of the first steps to leave out, from the length of each step in any one unit: MSER-5 (White 1997, "An
// effective truncation heuristic for bias reduction in simulation output"), the cut in batches of 5 that minimises the
// standard error of the mean of what is left; at most half of the steps, 0 when there are fewer than 10.
int SettledAfter(std::span<const double> steps);

// Whether what happens now and then happens at a regular distance.

// The distance, 2 or more, that two thirds of these distances keep to, or to a multiple of
// it, within 5 %. Absent if events at random places would do so with a probability above
// 0.05.
std::optional<std::uint32_t> RegularDistance(std::vector<std::uint32_t> distances);

}  // namespace loopscope
