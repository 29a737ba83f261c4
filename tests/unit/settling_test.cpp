#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "profiler/core/statistics/series.h"

namespace loopscope {
namespace {

std::vector<double> Steps(int slow, int steady, double slow_factor, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.5);
  std::vector<double> steps;
  for (int i = 0; i < slow + steady; ++i) steps.push_back((i < slow ? slow_factor : 1) * 100 + noise(random));
  return steps;
}

TEST(Settling, SlowFirstStepsAreLeftOut) {
  for (const int slow : {1, 4, 5, 11, 20}) {
    const int cut = SettledAfter(Steps(slow, 50, 1.5));
    EXPECT_GE(cut, slow);
    EXPECT_LT(cut, slow + 25) << "of a settled rest, little is given away";
  }
}

TEST(Settling, NothingIsLeftOutOfAConstant) {
  EXPECT_EQ(SettledAfter(std::vector<double>(60, 7.0)), 0);
}

TEST(Settling, AtMostHalf) {
  std::vector<double> falling;
  for (int i = 0; i < 60; ++i) falling.push_back(1000 - i);
  EXPECT_LE(SettledAfter(falling), 30);
  EXPECT_GT(SettledAfter(falling), 0);
}

TEST(Settling, TooFewSteps) {
  EXPECT_EQ(SettledAfter({}), 0);
  EXPECT_EQ(SettledAfter(std::vector<double>{9, 1, 1, 1, 1, 1, 1, 1, 1}), 0);
}

}  // namespace
}  // namespace loopscope
