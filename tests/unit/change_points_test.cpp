#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "profiler/core/statistics/series.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<double> Levels(const std::vector<std::pair<int, double>>& levels, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> draw(0, noise);
  std::vector<double> values;
  for (const auto& [count, level] : levels) {
    for (int i = 0; i < count; ++i) values.push_back(level + draw(random));
  }
  return values;
}

TEST(ChangePoints, FindsLevels) {
  int found = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto changes = ChangePoints(Levels({{30, 100}, {20, 106}, {25, 103}}, 1, seed));
    const bool both =
        changes.size() == 2 && changes[0] >= 29 && changes[0] <= 31 && changes[1] >= 48 && changes[1] <= 52;
    found += both;
  }
  EXPECT_GE(found, 90) << "of 100 series";
}

TEST(ChangePoints, NoiseHasNone) {
  int called = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) called += !ChangePoints(Levels({{60, 100}}, 1, seed)).empty();
  EXPECT_LE(called, 50) << "of 1000 series";
}

TEST(ChangePoints, OneOutlierIsNoLevel) {
  std::vector<double> values = Levels({{40, 100}}, 1, 3);
  values[20] = 130;
  EXPECT_THAT(ChangePoints(values), testing::Not(testing::Contains(20)));
}

TEST(ChangePoints, ExactSeries) {
  EXPECT_THAT(ChangePoints({}), IsEmpty());
  EXPECT_THAT(ChangePoints(std::vector<double>{1, 2, 3, 4, 5}), IsEmpty());
  EXPECT_THAT(ChangePoints(std::vector<double>(50, 7.0)), IsEmpty());
  std::vector<double> step(20, 1.0);
  step.resize(40, 2.0);
  EXPECT_THAT(ChangePoints(step), ElementsAre(20));
}

}  // namespace
}  // namespace loopscope
