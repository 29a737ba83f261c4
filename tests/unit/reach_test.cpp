#include "profiler/core/report/reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace loopscope {
namespace {

Reach At(double value, double limit) {
  return value > limit ? Reach{limit, true} : Reach{value, false};
}

// Times to a target: each seed has its own difficulty, its runs differ by 20 %, `speedup` is the true one.
std::vector<ReachPair> Runs(int n, double speedup, double limit, std::mt19937_64& random) {
  std::normal_distribution<double> seed(0, 0.5), run(0, 0.2);
  std::vector<ReachPair> pairs;
  for (int i = 0; i < n; ++i) {
    const double usual = 30 * std::exp(seed(random));
    pairs.push_back({At(usual * std::exp(run(random)), limit), At(usual / speedup * std::exp(run(random)), limit)});
  }
  return pairs;
}

TEST(Reach, WithoutCensoringIsTheSignedRankInterval) {
  const std::vector<ReachPair> pairs = {
      {{20, false}, {10, false}}, {{22, false}, {10, false}}, {{18, false}, {10, false}}, {{21, false}, {10, false}},
      {{19, false}, {10, false}}, {{24, false}, {10, false}}, {{20, false}, {11, false}}, {{20, false}, {9, false}}};
  const ReachEffect effect = CompareReach(pairs);
  EXPECT_EQ(effect.n, 8);
  EXPECT_NEAR(*effect.ratio.estimate, 2.05, 0.05);
  EXPECT_LT(*effect.ratio.low, 2.05);
  EXPECT_GT(*effect.ratio.high, 2.05);
  EXPECT_NEAR(effect.p, 2 * std::pow(2, -8), 1e-12);
  EXPECT_EQ(effect.sign, 1);
}

TEST(Reach, ABaselineThatNeverGetsThereLeavesTheGainOpen) {
  std::vector<ReachPair> pairs(8, {{60, true}, {20, false}});
  const ReachEffect effect = CompareReach(pairs);
  EXPECT_FALSE(effect.ratio.estimate) << "no number stands for a run that never got there";
  EXPECT_NEAR(*effect.ratio.low, 3, 1e-9);
  EXPECT_FALSE(effect.ratio.high);
  EXPECT_LE(effect.p, 0.01);
  EXPECT_EQ(effect.sign, 1);
  for (ReachPair& pair : pairs) std::swap(pair.baseline, pair.treated);
  const ReachEffect other = CompareReach(pairs);
  EXPECT_FALSE(other.ratio.low);
  EXPECT_NEAR(*other.ratio.high, 1 / 3.0, 1e-9);
  EXPECT_EQ(other.sign, -1);
}

TEST(Reach, NobodyGetsThere) {
  const ReachEffect effect = CompareReach(std::vector<ReachPair>(12, {{60, true}, {60, true}}));
  EXPECT_EQ(effect.p, 1);
  EXPECT_FALSE(effect.ratio.estimate || effect.ratio.low || effect.ratio.high);
  EXPECT_EQ(effect.sign, 0);
}

TEST(Reach, FewSeedsHaveNoIntervalAndNoSmallP) {
  const ReachEffect effect = CompareReach(std::vector<ReachPair>(kFewestSeeds - 1, {{40, false}, {20, false}}));
  EXPECT_GT(effect.p, 0.05);
  EXPECT_FALSE(effect.ratio.low || effect.ratio.high);
  EXPECT_EQ(CompareReach({}).n, 0);
}

TEST(Reach, MedianIsThatOfKaplanAndMeier) {
  EXPECT_EQ(MedianReach({{3, false}, {1, false}, {9, true}}), 3);
  EXPECT_EQ(MedianReach({{3, false}, {9, true}}), 3) << "half have reached it by then";
  EXPECT_FALSE(MedianReach({{3, false}, {9, true}, {9, true}}));
  EXPECT_FALSE(MedianReach({}));
}

// Without any effect, from no censoring to two thirds of the runs: the share of comparisons called at 5 %.
TEST(Reach, FalseAlarmsStayUnderFivePercentWhateverIsCensored) {
  for (const double limit : {1e9, 40.0, 25.0}) {
    for (const int n : {6, 8, 12}) {
      std::mt19937_64 random(7);
      int called = 0;
      const int experiments = 4000;
      for (int i = 0; i < experiments; ++i) called += CompareReach(Runs(n, 1, limit, random)).p <= 0.05;
      EXPECT_LE(called, 0.05 * experiments + 3 * std::sqrt(0.05 * 0.95 * experiments)) << limit << " " << n;
    }
  }
}

TEST(Reach, IntervalsCoverTheTruthWhateverIsCensored) {
  for (const double limit : {1e9, 40.0, 25.0}) {
    std::mt19937_64 random(11);
    int covered = 0;
    const int experiments = 4000;
    for (int i = 0; i < experiments; ++i) {
      const TargetRatio ratio = CompareReach(Runs(10, 1.5, limit, random)).ratio;
      covered += ratio.low.value_or(0) <= 1.5 && ratio.high.value_or(HUGE_VAL) >= 1.5;
    }
    EXPECT_GE(covered, 0.95 * experiments - 3 * std::sqrt(0.05 * 0.95 * experiments)) << limit;
  }
}

TEST(Reach, SeesARealGain) {
  for (const double limit : {1e9, 40.0}) {
    std::mt19937_64 random(13);
    int called = 0;
    for (int i = 0; i < 1000; ++i) {
      const ReachEffect effect = CompareReach(Runs(12, 1.5, limit, random));
      called += effect.p <= 0.05 && effect.sign > 0;
    }
    EXPECT_GE(called, limit > 100 ? 980 : 850) << limit;
  }
}

}  // namespace
}  // namespace loopscope
