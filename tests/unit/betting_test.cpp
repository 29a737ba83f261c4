#include "profiler/core/statistics/betting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "profiler/core/statistics/gate_power.h"
#include "tests/support/simulated_machine.h"

namespace loopscope {
namespace {

using test::Machine;

constexpr int kRuns = 20'000, kPairs = 48;

Machine Bursty() {
  Machine machine(11);
  machine.burst_chance = 0.1;
  machine.burst = 0.3;
  machine.heavy_tails = true;
  machine.drift = 0.002;
  return machine;
}

// The largest evidence that one would have seen at any of the pairs.
double Largest(Machine& machine, Bets bets) {
  double largest = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    bets.Add(machine.Pairs(1).front());
    largest = std::max(largest, bets.evidence());
  }
  return largest;
}

TEST(Bets, EverReachXInOneOfXRuns) {
  Machine machine = Bursty();
  int over_20 = 0, over_100 = 0;
  for (int run = 0; run < kRuns; ++run) {
    const double largest = Largest(machine, {Bets::On::kAbove, 0});
    over_20 += largest >= 20;
    over_100 += largest >= 100;
  }
  EXPECT_LE(over_20, kRuns / 20);
  EXPECT_LE(over_100, kRuns / 100);
  EXPECT_GT(over_20, kRuns / 200) << "bets that never win find nothing";
}

TEST(Bets, OneThatIsRightGrows) {
  Machine machine(12);
  machine.slowdown = 0.10;
  for (int run = 0; run < 200; ++run) EXPECT_GT(Largest(machine, {Bets::On::kAbove, 0}), 100);
}

TEST(BetsUpper, IsWhereBetsBelowItReachTheEvidence) {
  Machine machine(13);
  const std::vector<double> d = machine.Pairs(12);
  const auto upper = BetsUpper(d, 20);
  ASSERT_TRUE(upper);
  for (const double off : {-1e-6, 1e-6}) {
    Bets bets(Bets::On::kBelow, *upper + off);
    for (const double one : d) bets.Add(one);
    EXPECT_EQ(bets.evidence() >= 20, off > 0);
  }
  EXPECT_FALSE(BetsUpper(machine.Pairs(4), 20)) << "four pairs multiply the capital by 16 at most";
  EXPECT_FALSE(BetsUpper({}, 20));
}

TEST(GatePower, ASmallerSlowdownIsFoundWithLessNoise) {
  const double quiet = DetectableSlowdown(0.02, {}), noisy = DetectableSlowdown(0.08, {});
  EXPECT_GT(quiet, 0.02);
  EXPECT_LT(quiet, 0.05);
  EXPECT_GT(noisy, quiet);
  const GatePower found = PowerOf(0.05, 0.10, {});
  EXPECT_GT(found.fails, 0.99);
  EXPECT_LT(found.pairs, 10);
}

}  // namespace
}  // namespace loopscope
