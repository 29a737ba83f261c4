#include "profiler/core/trace/interval_set.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

namespace loopscope {
namespace {

constexpr int kRange = 64;
using Points = std::bitset<kRange>;  // the unit intervals [i, i + 1) that a set covers

std::vector<Interval> RandomIntervals(std::mt19937& random) {
  std::vector<Interval> intervals(random() % 8);
  for (Interval& one : intervals) {
    one.start_ns = random() % kRange;
    one.end_ns = std::min<std::int64_t>(kRange, one.start_ns + random() % 12);
  }
  return intervals;
}

template <class Intervals>
Points PointsOf(const Intervals& intervals) {
  Points points;
  for (const Interval& one : intervals) {
    for (std::int64_t i = one.start_ns; i < one.end_ns; ++i) points.set(static_cast<std::size_t>(i));
  }
  return points;
}

void ExpectSet(const IntervalSet& set, const Points& points) {
  EXPECT_EQ(PointsOf(set.intervals()), points);
  EXPECT_EQ(set.total_ns(), static_cast<std::int64_t>(points.count()));
  for (std::size_t i = 0; i < set.intervals().size(); ++i) {
    EXPECT_GT(set.intervals()[i].length(), 0);
    if (i == 0) continue;
    EXPECT_LT(set.intervals()[i - 1].end_ns, set.intervals()[i].start_ns);
  }
}

TEST(IntervalSet, AgreesWithBruteForce) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const auto a_intervals = RandomIntervals(random), b_intervals = RandomIntervals(random);
    const IntervalSet a(a_intervals), b(b_intervals);
    const Points a_points = PointsOf(a_intervals), b_points = PointsOf(b_intervals);
    ExpectSet(a, a_points);
    ExpectSet(a.Union(b), a_points | b_points);
    ExpectSet(a.Intersect(b), a_points & b_points);
    // Cuts leave touching pieces apart only where the input had them apart.
    EXPECT_EQ(PointsOf(a.Subtract(b).intervals()), a_points & ~b_points);
    const std::int64_t from = random() % kRange, to = from + random() % (kRange - from);
    const Points within = PointsOf(std::vector<Interval>{{from, to}});
    EXPECT_EQ(a.total_ns({from, to}), static_cast<std::int64_t>((a_points & within).count()));
    ExpectSet(a.Within({from, to}), a_points & within);
  }
}

TEST(IntervalSet, EmptyAndTouching) {
  EXPECT_EQ(IntervalSet().total_ns(), 0);
  EXPECT_EQ(IntervalSet({{5, 5}, {7, 3}}).intervals().size(), 0u);
  const IntervalSet touching({{4, 6}, {1, 4}});
  ASSERT_EQ(touching.intervals().size(), 1u);
  EXPECT_EQ(touching.total_ns(), 5);
  EXPECT_EQ(touching.total_ns({6, 4}), 0);
}

}  // namespace
}  // namespace loopscope
