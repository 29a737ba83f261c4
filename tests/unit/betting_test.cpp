#include "profiler/core/statistics/betting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "profiler/core/statistics/gate_decision.h"
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

struct Stopped {
  int called = 0, missed = 0;  // of kStopped runs: a difference was called; the interval does not hold the truth
  double pairs = 0;
};
constexpr int kStopped = 1500;

// Pairs that are looked at from the sixth on, and end when a difference is called or `most` are reached.
Stopped LookedAtEachTime(Machine machine, double truth, int most) {
  Stopped stopped;
  machine.slowdown = std::expm1(truth);
  for (int run = 0; run < kStopped; ++run) {
    std::vector<double> d;
    Bets above(Bets::On::kAbove, 0), below(Bets::On::kBelow, 0);
    const auto surely = [&] { return std::max(above.evidence(), below.evidence()) >= kEachSide95; };
    while (static_cast<int>(d.size()) < most && (static_cast<int>(d.size()) < kClearPairs || !surely())) {
      d.push_back(machine.Pairs(1).front());
      above.Add(d.back());
      below.Add(d.back());
    }
    const Effect effect = CompareByBets(d, 0.02);
    EXPECT_EQ(effect.p <= 0.05, surely());
    stopped.called += effect.p <= 0.05;
    stopped.missed += effect.ci95 && (truth < effect.ci95->low || truth > effect.ci95->high);
    stopped.pairs += static_cast<double>(d.size()) / kStopped;
  }
  return stopped;
}

TEST(CompareByBets, IsTrueWheneverOneLooks) {
  EXPECT_LE(LookedAtEachTime(Bursty(), 0, 24).called, 0.05 * kStopped);
  EXPECT_LE(LookedAtEachTime(Bursty(), 0, 24).missed, 0.05 * kStopped);
  EXPECT_LE(LookedAtEachTime(Machine(15), 0, 24).called, 0.05 * kStopped);
  for (const double truth : {-0.1, 0.05, 0.4})
    EXPECT_LE(LookedAtEachTime(Machine(16), truth, 24).missed, 0.05 * kStopped);
}

TEST(CompareByBets, AClearGainIsCalledAfterSixPairs) {
  const Stopped stopped = LookedAtEachTime(Machine(17), -0.2, 24);
  EXPECT_EQ(stopped.called, kStopped);
  EXPECT_LT(stopped.pairs, 7);
}

TEST(CompareByBets, EquivalentIsWhatStaysWithinTheMargin) {
  std::vector<double> d;
  for (int i = 0; i < 12; ++i) d.push_back(i % 2 ? 0.001 : -0.001);
  const Effect same = CompareByBets(d, 0.05);
  EXPECT_LE(same.p_equivalent, 0.05);
  EXPECT_GT(same.p, 0.05);
  ASSERT_TRUE(same.ci95);
  EXPECT_LT(same.ci95->low, -0.001);
  EXPECT_GT(same.ci95->high, 0.001);
  EXPECT_EQ(CompareByBets({}, 0.05).method, Method::kTooFew);
  EXPECT_FALSE(CompareByBets(std::vector{0.1, 0.1}, 0.05).ci95);
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
