#include "profiler/core/statistics/gate_decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/simulated_machine.h"

namespace loopscope {
namespace {

using test::Machine;
using testing::HasSubstr;

struct Counts {
  int pass = 0, fail = 0, inconclusive = 0;
  double pairs = 0;
};

Counts Gates(Machine machine, int gates, const GateLimits& limits = {}) {
  Counts counts;
  for (int gate = 0; gate < gates; ++gate) {
    const std::vector<double> first = machine.Pairs(limits.first_pairs);
    std::vector<double> second;
    if (AsksForSecondStage(first, limits)) second = machine.Pairs(limits.second_pairs);
    const GateDecision decision = DecideGate(first, second, limits);
    counts.pass += decision.verdict == GateVerdict::kPass;
    counts.fail += decision.verdict == GateVerdict::kFail;
    counts.inconclusive += decision.verdict == GateVerdict::kInconclusive;
    counts.pairs += decision.pairs;
  }
  counts.pairs /= gates;
  return counts;
}

constexpr int kGates = 20'000;

// 1 % by construction; over 20,000 gates its standard error is 0.07 %.
constexpr int kMostFalseAlarms = kGates * 12 / 1000;

TEST(GateFalseAlarms, QuietMachine) {
  Machine machine(1);
  machine.pair_noise = 0.01;
  const Counts counts = Gates(machine, kGates);
  EXPECT_LE(counts.fail, kMostFalseAlarms);
  EXPECT_GE(counts.pass, kGates * 99 / 100);
  EXPECT_LE(counts.pairs, 14);
}

TEST(GateFalseAlarms, NoisyMachine) {
  for (const double noise : {0.03, 0.08, 0.15}) {
    Machine machine(2);
    machine.pair_noise = noise;
    EXPECT_LE(Gates(machine, kGates).fail, kMostFalseAlarms) << noise;
  }
}

TEST(GateFalseAlarms, HeavyTails) {
  Machine machine(3);
  machine.heavy_tails = true;
  EXPECT_LE(Gates(machine, kGates).fail, kMostFalseAlarms);
}

TEST(GateFalseAlarms, Drift) {
  for (const double drift : {0.002, -0.002, 0.02}) {
    Machine machine(4);
    machine.drift = drift;
    EXPECT_LE(Gates(machine, kGates).fail, kMostFalseAlarms) << drift;
  }
}

TEST(GateFalseAlarms, Bursts) {
  Machine machine(5);
  machine.burst_chance = 0.1;
  machine.burst = 0.3;
  EXPECT_LE(Gates(machine, kGates).fail, kMostFalseAlarms);
}

TEST(GateFalseAlarms, OverSeveralWorkloads) {
  const GateLimits limits = LimitsFor(4, 0.05);
  EXPECT_NEAR(limits.alpha * limits.alpha, 0.01 / 4, 1e-12);
  EXPECT_LE(Gates(Machine(6), kGates, limits).fail, kMostFalseAlarms / 4 + 20);
}

TEST(GatePower, SlowdownOfFivePercent) {
  Machine machine(7);
  machine.slowdown = 0.05;
  machine.pair_noise = 0.03;
  EXPECT_GE(Gates(machine, 5000).fail, 5000 * 99 / 100);
  machine.pair_noise = 0.05;
  EXPECT_GE(Gates(machine, 5000).fail, 5000 * 94 / 100);
}

TEST(GatePower, LargeSlowdownFailsHoweverNoisy) {
  Machine machine(8);
  machine.slowdown = 0.40;
  machine.pair_noise = 0.15;
  const Counts counts = Gates(machine, 2000);
  EXPECT_GE(counts.fail, 1990);
}

TEST(GatePower, ASlowdownIsNeverPassedByAccident) {
  Machine machine(9);
  machine.slowdown = 0.08;
  for (const double noise : {0.03, 0.08, 0.15}) {
    machine.pair_noise = noise;
    // The bound that lets it pass is one of 95 %.
    EXPECT_LE(Gates(machine, 5000).pass, 5000 * 5 / 100) << noise;
  }
}

TEST(GateDecision, NoSecondStageWithoutASlowdownOverTheFloor) {
  EXPECT_FALSE(AsksForSecondStage(std::vector<double>(12, 0.0), {}));
  EXPECT_FALSE(AsksForSecondStage(std::vector<double>(12, 0.015), {})) << "sure, but too small to matter";
  EXPECT_TRUE(AsksForSecondStage(std::vector<double>(12, 0.03), {}));
  EXPECT_FALSE(AsksForSecondStage(std::vector<double>(12, -0.3), {}));
}

TEST(GateDecision, ReasonsTellTheFigures) {
  const std::vector<double> slow(12, std::log(1.10)), fresh(20, std::log(1.10)), same(12, 0.001);
  const GateDecision failed = DecideGate(slow, fresh, {});
  EXPECT_EQ(failed.verdict, GateVerdict::kFail);
  EXPECT_NEAR(failed.slowdown, 0.10, 1e-9);
  EXPECT_THAT(failed.reason, HasSubstr("slower by 10.0 %"));
  const GateDecision passed = DecideGate(same, {}, {});
  EXPECT_EQ(passed.verdict, GateVerdict::kPass);
  EXPECT_THAT(passed.reason, HasSubstr("under the limit of 5.0 %"));
  EXPECT_FALSE(passed.p_second);
}

TEST(GateDecision, AFirstStageAloneNeverFails) {
  const GateDecision decision = DecideGate(std::vector<double>(12, std::log(1.5)), {}, {});
  EXPECT_EQ(decision.verdict, GateVerdict::kInconclusive);
}

TEST(GateDecision, TooFewPairs) {
  EXPECT_EQ(DecideGate({}, {}, {}).verdict, GateVerdict::kInconclusive);
  const GateDecision few = DecideGate(std::vector<double>(3, 0.0), {}, {});
  EXPECT_EQ(few.verdict, GateVerdict::kInconclusive);
  EXPECT_FALSE(few.upper95);
}

}  // namespace
}  // namespace loopscope
