#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "profiler/core/statistics/series.h"

namespace loopscope {
namespace {

std::vector<std::uint32_t> Every(std::uint32_t distance, std::size_t count) {
  return std::vector<std::uint32_t>(count - 1, distance);
}

TEST(Rhythm, EqualDistances) {
  EXPECT_EQ(RegularDistance(Every(8, 3)), 8u);
  EXPECT_EQ(RegularDistance(Every(2, 5)), 2u);
  EXPECT_EQ(RegularDistance(Every(3, 4)), 3u);
  EXPECT_EQ(RegularDistance(Every(100, 4)), 100u);
}

TEST(Rhythm, OneMoreOrOneMissing) {
  EXPECT_EQ(RegularDistance(std::vector<std::uint32_t>{10, 3, 7, 10, 10, 10, 10}), 10u);
  EXPECT_EQ(RegularDistance(std::vector<std::uint32_t>{20, 10, 10}), 10u);
  EXPECT_EQ(RegularDistance(std::vector<std::uint32_t>{101, 98, 103}), 101u);
}

TEST(Rhythm, TooFewOrTooCloseOrAllDifferent) {
  EXPECT_EQ(RegularDistance({}), std::nullopt);
  EXPECT_EQ(RegularDistance(Every(8, 2)), std::nullopt);
  EXPECT_EQ(RegularDistance(Every(1, 20)), std::nullopt);
  EXPECT_EQ(RegularDistance(Every(3, 3)), std::nullopt);  // one in three of few steps: as likely as not
  EXPECT_EQ(RegularDistance(std::vector<std::uint32_t>{7, 20, 5, 25}), std::nullopt);
}

// Steps that are long by chance have no regular distance: at most 5 % of such runs report one.
TEST(Rhythm, NoneByChance) {
  for (const double share : {0.02, 0.1, 0.2, 0.33, 0.5}) {
    std::mt19937 random(11);
    std::bernoulli_distribution is_long(share);
    int said = 0;
    for (int run = 0; run < 2000; ++run) {
      std::vector<std::uint32_t> distances;
      std::uint32_t last = 60;
      for (std::uint32_t step = 0; step < 60; ++step) {
        if (!is_long(random)) continue;
        if (last < 60) distances.push_back(step - last);
        last = step;
      }
      said += RegularDistance(distances).has_value();
    }
    EXPECT_LE(said, 100) << share;
  }
}

}  // namespace
}  // namespace loopscope
