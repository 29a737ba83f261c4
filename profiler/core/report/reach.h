// How long runs take to reach a target, when some never do: pairs of runs that share a seed, each with a time or with
// the limit at which it was censored. Pure numbers. Why these procedures: docs/measurement.md.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "profiler/core/report/target.h"

namespace loopscope {

// Fewest seeds for a verdict: with five, no two-sided p is under 5 %.
inline constexpr int kFewestSeeds = 6;

// Seconds, steps or samples. A censored one is only known to exceed `value`.
struct Reach {
  double value = 0;
  bool censored = false;
};

struct ReachPair {
  Reach baseline, treated;
};

// The ratio baseline / treated; above 1 the treated run gets there first.
struct ReachEffect {
  int n = 0;
  TargetRatio ratio;  // Hodges and Lehmann's estimate and the exact 95 % interval; see CompareReach
  double p = 1;       // two-sided: the two are exchangeable within a seed
  int sign = 0;       // 1: the treated one is ahead, -1 behind
};

// The p value is Wilcoxon's over ln(treated / baseline) with censored runs at their limit. Under "no effect" the two
// runs of a seed are exchangeable, limit included, so the signs are random and the test is exact, however many are
// censored. A pair of two censored runs counts for both sides. The ends of the interval assume the worst for each
// censored pair: with the treated run censored, the logarithm lies anywhere above its known bound, and so on. An end
// left without a bound is absent, and so is the estimate when the bounds give two values for it.
ReachEffect CompareReach(std::span<const ReachPair> pairs);

// The Kaplan-Meier median (1958): the first time by which half of the runs have reached it; absent when half never did.
// All censored runs share one limit, or are censored at their end.
std::optional<double> MedianReach(std::vector<Reach> runs);

}  // namespace loopscope
