// Evidence that grows with every pair and may be looked at after each of them: bets on which way pairs differ.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {

// Bets against one value of what pairs are symmetric about. If that value is right, the expected capital stays 1
// whatever the noise, and so it ever reaches 1 / a with a probability of at most a (Ville 1939): it can be checked
// after each pair, and betting may stop at any time. A bet of size b multiplies its capital
// by 1 + tanh(b (d - center)), whose mean is 1 where d is symmetric about `center`; the capital is shared among sizes
// from 1 to 128, the larger the more. Betting as a test: Ramdas, Gruenwald, Vovk and Shafer 2023, Statistical Science
// 38.
class Bets {
 public:
  static constexpr std::size_t kSizes = 12;

  enum class On { kAbove, kBelow };  // the side of `center` on which the truth is suspected
  Bets(On side, double center);

  void Add(double d);
  double evidence() const;  // the capital that began as 1

 private:
  double sign_, center_;
  std::array<double, kSizes> capital_;
};

// The smallest value that bets on a truth below it make `evidence` or more against: with evidence 20 the truth lies
// above it in at most 5 % of all cases, whenever one looked. None where the pairs are too few for any value.
std::optional<double> BetsUpper(std::span<const double> d, double evidence);

// Evidence of 2.5 %, that each side of an interval of 95 % needs; five pairs multiply a capital by 2^5 at most.
inline constexpr double kEachSide95 = 40;
inline constexpr int kClearPairs = 6;

// Like CompareWithReference for one arm, but valid whenever one looks: p = 2 / the larger evidence of a bet on each
// side of no difference; the interval holds the values against which neither bet reaches evidence kEachSide95 (none
// where d's are too few to bound anything). `margin` is on the log scale.
Effect CompareByBets(std::span<const double> d, double margin);

}  // namespace loopscope
