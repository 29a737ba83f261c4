// The statistics of repeated launches: paired differences of logarithms in, estimates, intervals and p values out.
// Pure numbers: no clock, no launches. Why these procedures and not others: docs/measurement.md.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace loopscope {

struct Bounds {
  double low = 0, high = 0;
};

enum class Tail { kTwoSided, kLess, kGreater };  // what p is evidence for: centre differs, lies below, lies above

double Mean(std::span<const double> values);      // 0 for none
double Variance(std::span<const double> values);  // with n - 1; 0 for fewer than two
double Median(std::vector<double> values);        // 0 for none

// --- Wilcoxon's signed ranks, exact (Wilcoxon 1945; Hodges and Lehmann 1963; Hollander and Wolfe, ch. 3)
// --------------- All (d_i + d_j) / 2 with i <= j, sorted: n (n + 1) / 2 of them.
std::vector<double> WalshAverages(std::span<const double> d);
double HodgesLehmann(std::span<const double> d);  // their median

// P(W <= w) of the rank sum W of n untied differences with random signs.
double SignedRankCdf(int n, int w);

// p of "the centre of symmetry is `center`". The rank sums are counts of Walsh averages; one that equals `center` (a
// zero, or a tie of opposite signs) counts on both sides, so that ties only ever make p larger. Dual to the bounds.
double SignedRankP(std::span<const double> d, Tail tail, double center = 0);

// The probability that at least `hits` of `trials` independent trials succeed; `chance`: of each, from 0 to 1.
double BinomialTail(int trials, int hits, double chance);

// The k-th Walsh averages from each end, the largest k with coverage >= `confidence`; none when n is too small for it
// (95 %: n < 6).
std::optional<Bounds> SignedRankBounds(std::span<const double> d, double confidence);

// The one-sided bound: the centre lies below it with `confidence`; none when n is too small (95 %: n < 5).
std::optional<double> SignedRankUpper(std::span<const double> d, double confidence);

// --- Student's t -----------------------------------------------------------------------------------------------------
double StudentQuantile(double probability, double df);
double StudentP(double t, double df, Tail tail);

// --- Arms that share a reference -------------------------------------------------------------------------------------
inline constexpr int kExactBlocks = 10;  // from here on signed ranks
inline constexpr int kFewestBlocks = 4;  // from here on the pooled form; below, no verdict

enum class Method { kTooFew, kPooled, kExact, kBets };

// The spread that the pooled form gives every arm: the mean of the arms' own variances, with
// df = (n - 1) k / (1 + (k - 1) / 4), since the d's of k arms against one reference are correlated by about a half.
struct PooledSpread {
  double variance = 0, df = 0;
};
PooledSpread PoolWithinArms(std::span<const std::vector<double>> arms);

// One arm against the reference, on the log scale. Under kFewestBlocks: the mean alone, p = 1.
struct Effect {
  Method method = Method::kTooFew;
  int n = 0;
  double estimate = 0;
  std::optional<Bounds> ci95 = {};  // unadjusted
  double p = 1;                     // two-sided, for no difference
  double p_equivalent = 1;          // the larger of the two one-sided tests against -margin and +margin
};

// arms[i] holds d = ln(T_arm / T_reference), one per block; all have the same number of blocks. `margin` is on the log
// scale. In the pooled form an arm whose variance is over four times the others' mean is judged by its own spread (n -
// 1 degrees of freedom) if that is more cautious: in simulations one arm of 4 x the noise (a starved loader put back)
// raises the rate of any false call among ten arms to 17-21 % without this, and to at most 5 % with it.
std::vector<Effect> CompareWithReference(std::span<const std::vector<double>> arms, double margin);

// --- Many comparisons, and what could be seen ------------------------------------------------------------------------
// Step-down adjusted p values (Holm 1979), in the order given.
std::vector<double> Holm(std::span<const double> p);

// The smallest true |log ratio| that `n` pairs of this standard deviation, known to `df` degrees of freedom, detect
// with 80 % power at two-sided `alpha`.
double DetectableEffect(double pair_sd, int n, double df, double alpha = 0.05);

// The exact permutation p of "the first `treated` curves are as far from the others as those are from one another":
// over every way to choose `treated` of them, the share whose (mean distance to the rest - mean distance among the
// rest) is at least the observed one. `distance` is a symmetric n x n matrix, row by row; n - treated >= 2.
double PermutationP(std::span<const double> distance, int n, int treated);

}  // namespace loopscope
