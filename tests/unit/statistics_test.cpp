#include "profiler/core/statistics/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace loopscope {
namespace {

std::vector<double> RandomDifferences(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.3, 1.0);
  std::vector<double> d(n);
  for (double& value : d) value = normal(random);
  return d;
}

// W+ by its definition: the ranks of |d| whose sign is positive.
int PositiveRankSum(const std::vector<double>& d) {
  int sum = 0;
  for (const double value : d) {
    if (value <= 0) continue;
    sum += static_cast<int>(std::ranges::count_if(d, [&](double other) { return std::abs(other) <= std::abs(value); }));
  }
  return sum;
}

// All 2^n sign vectors: the share whose rank sum satisfies `as_extreme`.
template <class Extreme>
double ByBruteForce(const std::vector<double>& d, Extreme as_extreme) {
  const unsigned all = 1u << d.size();
  unsigned hits = 0;
  for (unsigned signs = 0; signs < all; ++signs) {
    std::vector<double> flipped = d;
    for (std::size_t i = 0; i < d.size(); ++i) flipped[i] = std::abs(d[i]) * ((signs >> i & 1) ? 1 : -1);
    hits += as_extreme(PositiveRankSum(flipped));
  }
  return static_cast<double>(hits) / all;
}

TEST(SignedRank, PValuesMatchAllSignVectors) {
  for (int n = 1; n <= 8; ++n) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      const std::vector<double> d = RandomDifferences(n, 100 * n + seed);
      const int w = PositiveRankSum(d), total = n * (n + 1) / 2;
      const double greater = ByBruteForce(d, [&](int one) { return one >= w; });
      const double less = ByBruteForce(d, [&](int one) { return one <= w; });
      const double both =
          ByBruteForce(d, [&](int one) { return std::min(one, total - one) <= std::min(w, total - w); });
      EXPECT_NEAR(SignedRankP(d, Tail::kGreater), greater, 1e-12);
      EXPECT_NEAR(SignedRankP(d, Tail::kLess), less, 1e-12);
      EXPECT_NEAR(SignedRankP(d, Tail::kTwoSided), std::min(1.0, both), 1e-12);
    }
  }
}

// An interval holds exactly the centres that a test at its level does not reject; the test is the brute force one.
TEST(SignedRank, BoundsAreTheCentresThatAllSignVectorsDoNotReject) {
  for (int n = 6; n <= 8; ++n) {
    for (unsigned seed = 0; seed < 6; ++seed) {
      const std::vector<double> d = RandomDifferences(n, 900 * n + seed);
      const std::optional<Bounds> bounds = SignedRankBounds(d, 0.95);
      ASSERT_TRUE(bounds);
      const std::vector<double> walsh = WalshAverages(d);
      for (std::size_t i = 0; i + 1 < walsh.size(); ++i) {
        const double center = 0.5 * (walsh[i] + walsh[i + 1]);
        std::vector<double> shifted = d;
        for (double& value : shifted) value -= center;
        const int w = PositiveRankSum(shifted), total = n * (n + 1) / 2;
        const double p =
            ByBruteForce(shifted, [&](int one) { return std::min(one, total - one) <= std::min(w, total - w); });
        EXPECT_EQ(p > 0.05, bounds->low < center && center < bounds->high) << "n=" << n << " centre " << center;
      }
    }
  }
}

TEST(SignedRank, UpperBoundIsTheOneSidedTestInverted) {
  for (int n = 5; n <= 9; ++n) {
    const std::vector<double> d = RandomDifferences(n, 70 + n);
    const std::optional<double> upper = SignedRankUpper(d, 0.95);
    ASSERT_TRUE(upper);
    EXPECT_LE(SignedRankP(d, Tail::kLess, *upper + 1e-9), 0.05);
    EXPECT_GT(SignedRankP(d, Tail::kLess, *upper - 1e-9), 0.05);
  }
}

TEST(SignedRank, TooFewPairsHaveNoBounds) {
  EXPECT_FALSE(SignedRankBounds(RandomDifferences(5, 1), 0.95));
  EXPECT_TRUE(SignedRankBounds(RandomDifferences(6, 1), 0.95));
  EXPECT_FALSE(SignedRankUpper(RandomDifferences(4, 1), 0.95));
  EXPECT_FALSE(SignedRankBounds({}, 0.95));
}

TEST(SignedRank, KnownTable) {
  // Hollander and Wolfe, table A.4: P(W >= 45) = 0.042 and P(W >= 47) = 0.024 at n = 10, P(W >= 36) = 0.004 at n = 8.
  EXPECT_NEAR(SignedRankCdf(10, 10), 0.042, 5e-4);
  EXPECT_NEAR(SignedRankCdf(10, 8), 0.024, 5e-4);
  EXPECT_NEAR(SignedRankCdf(8, 0), 1.0 / 256, 1e-15);
  EXPECT_NEAR(SignedRankCdf(10, 55), 1.0, 1e-12);
  EXPECT_EQ(SignedRankCdf(10, -1), 0.0);
}

TEST(SignedRank, TiesAndZerosOnlyRaiseP) {
  const std::vector<double> tied{0.0, 1.0, -1.0, 2.0, 3.0, 4.0, 5.0};
  // Every way to break the zero and the tie by a hair.
  double largest = 0;
  for (const double zero : {-1e-9, 1e-9}) {
    for (const double tie : {-1e-6, 1e-6}) {
      largest = std::max(largest, SignedRankP(std::vector<double>{zero, 1 + tie, -1, 2, 3, 4, 5}, Tail::kGreater));
    }
  }
  EXPECT_GE(SignedRankP(tied, Tail::kGreater), largest);
  EXPECT_EQ(SignedRankP(std::vector<double>(8, 0.0), Tail::kTwoSided), 1.0);
}

TEST(HodgesLehmann, MedianOfWalshAverages) {
  EXPECT_THAT(WalshAverages(std::vector<double>{3, 1}), testing::ElementsAre(1, 2, 3));
  EXPECT_DOUBLE_EQ(HodgesLehmann(std::vector<double>{1, 2, 100}), 26.25);  // of 1, 1.5, 2, 50.5, 51, 100
  EXPECT_DOUBLE_EQ(HodgesLehmann(std::vector<double>{5}), 5);
}

TEST(Pooled, OneArmIsThePairedTTest) {
  const std::vector<std::vector<double>> arms{{0.10, 0.14, 0.08, 0.12}};
  const Effect effect = CompareWithReference(arms, std::log(1.02))[0];
  // Mean 0.11, standard deviation 0.0258199, t = 8.5206 on 3 degrees of freedom.
  EXPECT_EQ(effect.method, Method::kPooled);
  EXPECT_DOUBLE_EQ(effect.estimate, 0.11);
  EXPECT_NEAR(effect.p, 0.003386, 2e-5);
  EXPECT_NEAR(effect.ci95->low, 0.11 - 3.182446 * 0.0258199 / 2, 1e-6);
  EXPECT_NEAR(effect.ci95->high, 0.11 + 3.182446 * 0.0258199 / 2, 1e-6);
}

TEST(Pooled, DegreesOfFreedomOfCorrelatedArms) {
  const std::vector<std::vector<double>> arms(5, std::vector<double>{0, 1, 2, 3, 4, 5});
  const PooledSpread spread = PoolWithinArms(arms);
  EXPECT_DOUBLE_EQ(spread.variance, 3.5);
  EXPECT_DOUBLE_EQ(spread.df, 5 * 5 / 2.0);
}

TEST(Pooled, NoSpreadAtAll) {
  const std::vector<std::vector<double>> arms{{0.1, 0.1, 0.1, 0.1}, {0, 0, 0, 0}};
  const std::vector<Effect> effects = CompareWithReference(arms, 0.02);
  EXPECT_LT(effects[0].p, 1e-9);
  EXPECT_EQ(effects[1].p, 1);
  EXPECT_EQ(effects[1].p_equivalent, 0);
}

TEST(Compare, FormFollowsTheNumberOfBlocks) {
  for (const auto& [n, method] :
       {std::pair{3, Method::kTooFew}, {4, Method::kPooled}, {9, Method::kPooled}, {10, Method::kExact}}) {
    const std::vector<std::vector<double>> arms{RandomDifferences(n, n)};
    const Effect effect = CompareWithReference(arms, 0.02)[0];
    EXPECT_EQ(effect.method, method);
    EXPECT_EQ(effect.ci95.has_value(), n >= 4);
    if (n < 4) {
      EXPECT_EQ(effect.p, 1);
    }
  }
}

TEST(Compare, EquivalenceNeedsBothSides) {
  std::vector<double> near_zero, shifted;
  for (int i = 0; i < 12; ++i) near_zero.push_back(0.001 * (i - 5.5)), shifted.push_back(0.018 + 0.001 * (i - 5.5));
  const std::vector<std::vector<double>> arms{near_zero, shifted};
  const std::vector<Effect> effects = CompareWithReference(arms, std::log(1.02));
  EXPECT_LT(effects[0].p_equivalent, 0.001);
  EXPECT_GT(effects[1].p_equivalent, 0.05);
}

TEST(Holm, StepsDown) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  EXPECT_THAT(Holm(p), testing::ElementsAre(testing::DoubleEq(0.03), testing::DoubleEq(0.06), testing::DoubleEq(0.06),
                                            testing::DoubleEq(0.02)));
  EXPECT_THAT(Holm(std::vector<double>{0.9, 1.0}), testing::ElementsAre(1.0, 1.0));
  EXPECT_TRUE(Holm({}).empty());
}

TEST(Detectable, HasTheStatedPower) {
  // 4 % pair noise, 12 pairs: simulate the paired t test at the effect it claims to detect.
  const double effect = DetectableEffect(0.04, 12, 11);
  std::mt19937 random(5);
  std::normal_distribution<double> normal(effect, 0.04);
  int called = 0;
  const int trials = 4000;
  for (int t = 0; t < trials; ++t) {
    std::vector<double> d(12);
    for (double& value : d) value = normal(random);
    const double error = std::sqrt(Variance(d) / 12);
    called += StudentP(Mean(d) / error, 11, Tail::kTwoSided) <= 0.05;
  }
  EXPECT_NEAR(static_cast<double>(called) / trials, 0.80, 0.03);
}

TEST(Permutation, MostExtremeSplitHasTheSmallestP) {
  // Two treated curves far from six baselines that lie close together.
  const std::vector<double> at{10, 10.1, 0, 0.1, 0.2, 0.3, 0.4, 0.5};
  std::vector<double> distance;
  for (const double a : at) {
    for (const double b : at) distance.push_back(std::abs(a - b));
  }
  EXPECT_DOUBLE_EQ(PermutationP(distance, 8, 2), 1.0 / 28);
}

TEST(Permutation, IsUniformWhenNothingDiffers) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  int small = 0;
  const int trials = 1000;
  for (int t = 0; t < trials; ++t) {
    std::vector<double> at(9), distance;
    for (double& a : at) a = normal(random);
    for (const double a : at) {
      for (const double b : at) distance.push_back(std::abs(a - b));
    }
    small += PermutationP(distance, 9, 3) <= 0.05;
  }
  EXPECT_LE(small, 70);  // 5 % of 1000 and three standard deviations
  EXPECT_GE(small, 20);  // the test does reject
}

// Against sums of (n choose k) p^k (1 - p)^(n - k).
TEST(BinomialTail, IsTheSumOfItsTerms) {
  EXPECT_NEAR(BinomialTail(3, 3, 0.5), 0.125, 1e-12);
  EXPECT_NEAR(BinomialTail(3, 2, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(BinomialTail(5, 4, 0.1), 5 * 1e-4 * 0.9 + 1e-5, 1e-12);
  EXPECT_NEAR(BinomialTail(40, 0, 0.3), 1, 1e-12);
  EXPECT_EQ(BinomialTail(4, 1, 0), 0);
  EXPECT_EQ(BinomialTail(4, 4, 1), 1);
}

}  // namespace
}  // namespace loopscope
