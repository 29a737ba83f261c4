#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "profiler/core/statistics/series.h"

namespace loopscope {
namespace {

std::vector<double> Noise(std::size_t count, double spread, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, spread);
  std::vector<double> values(count);
  for (double& value : values) value = 10 + normal(random);
  return values;
}

TEST(Trend, SlopeAndChangeOfALine) {
  std::vector<double> values;
  for (int i = 0; i < 21; ++i) values.push_back(10 + 0.5 * i);
  const auto trend = FindTrend(values);
  ASSERT_TRUE(trend.has_value());
  EXPECT_NEAR(trend->slope, 0.5, 1e-9);
  EXPECT_NEAR(trend->change_pct, 100, 1e-6);  // from 10 to 20
  EXPECT_LT(trend->p, 1e-6);
}

TEST(Trend, FallsAsWell) {
  std::vector<double> values;
  for (int i = 0; i < 30; ++i) values.push_back(100 - i);
  ASSERT_TRUE(FindTrend(values).has_value());
  EXPECT_NEAR(FindTrend(values)->slope, -1, 1e-9);
}

TEST(Trend, OutliersMoveTheSlopeLittle) {
  std::vector<double> values;
  for (int i = 0; i < 50; ++i) values.push_back(10 + 0.2 * i + (i % 10 == 9 ? 300 : 0));
  const auto trend = FindTrend(values);
  ASSERT_TRUE(trend.has_value());
  EXPECT_NEAR(trend->slope, 0.2, 0.1);
}

TEST(Trend, ConstantsAndFewValuesHaveNone) {
  EXPECT_FALSE(FindTrend(std::vector<double>(50, 3.0)).has_value());
  EXPECT_FALSE(FindTrend(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9}).has_value());
  EXPECT_FALSE(FindTrend({}).has_value());
}

// At p <= 0.001 a thousand series without a trend give one on average; ten would have a probability of 1e-7.
TEST(Trend, NoiseHardlyEverHasOne) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) found += FindTrend(Noise(60, 1, seed)).has_value();
  EXPECT_LT(found, 10);
}

TEST(Trend, ALongSeriesIsThinnedOut) {
  std::vector<double> values = Noise(20000, 1, 7);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0.001 * static_cast<double>(i);
  const auto trend = FindTrend(values);
  ASSERT_TRUE(trend.has_value());
  EXPECT_NEAR(trend->slope, 0.001, 0.0001);
}

}  // namespace
}  // namespace loopscope
