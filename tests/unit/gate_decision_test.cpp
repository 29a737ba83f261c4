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
    GateJudge judge(limits);
    int pairs = 0;
    while (pairs < limits.most_pairs && judge.verdict() == GateVerdict::kInconclusive) {
      judge.Add(machine.Pairs(1).front());
      ++pairs;
    }
    counts.pass += judge.verdict() == GateVerdict::kPass;
    counts.fail += judge.verdict() == GateVerdict::kFail;
    counts.inconclusive += judge.verdict() == GateVerdict::kInconclusive;
    counts.pairs += pairs;
  }
  counts.pairs /= gates;
  return counts;
}

constexpr int kGates = 20'000;

constexpr int kMostFalseAlarms = kGates / 100;

TEST(GateFalseAlarms, QuietMachine) {
  Machine machine(1);
  machine.pair_noise = 0.01;
  const Counts counts = Gates(machine, kGates);
  EXPECT_LE(counts.fail, kMostFalseAlarms);
  EXPECT_GE(counts.pass, kGates * 99 / 100);
  EXPECT_LE(counts.pairs, 6);
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
  EXPECT_EQ(limits.fails_from, 400);
  EXPECT_LE(Gates(Machine(6), kGates, limits).fail, kMostFalseAlarms / 4);
}

TEST(GatePower, SlowdownOfFivePercent) {
  Machine machine(7);
  machine.slowdown = 0.05;
  machine.pair_noise = 0.03;
  const Counts quiet = Gates(machine, 5000);
  EXPECT_GE(quiet.fail, 5000 * 97 / 100);
  EXPECT_LE(quiet.pairs, 11);
  machine.pair_noise = 0.05;
  const Counts noisy = Gates(machine, 5000);
  EXPECT_GE(noisy.fail, 5000 * 95 / 100);
  EXPECT_LE(noisy.pairs, 18);
}

TEST(GatePower, LargeSlowdownFailsHoweverNoisy) {
  Machine machine(8);
  machine.slowdown = 0.40;
  machine.pair_noise = 0.15;
  const Counts counts = Gates(machine, 2000);
  EXPECT_GE(counts.fail, 1990);
}

TEST(GatePower, TwiceAsSlowFailsOnTheNoisiestMachine) {
  Machine machine(10);
  machine.slowdown = 1;
  machine.pair_noise = 0.5;
  EXPECT_GE(Gates(machine, 2000).fail, 1900) << "one pair the other way round must not lose all capital";
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

GateJudge Judged(const std::vector<double>& pairs) {
  GateJudge judge({});
  for (const double d : pairs) judge.Add(d);
  return judge;
}

TEST(GateDecision, WhatIsSureButTooSmallToMatterDoesNotFail) {
  EXPECT_EQ(Judged(std::vector<double>(40, 0.015)).verdict(), GateVerdict::kPass);
  EXPECT_EQ(Judged(std::vector<double>(40, 0.03)).verdict(), GateVerdict::kFail);
  EXPECT_EQ(Judged(std::vector<double>(40, -0.3)).verdict(), GateVerdict::kPass);
}

TEST(GateDecision, ReasonsTellTheFigures) {
  const GateDecision failed = Judged(std::vector<double>(9, std::log(1.10))).Decide();
  EXPECT_EQ(failed.verdict, GateVerdict::kFail);
  EXPECT_NEAR(failed.slowdown, 0.10, 1e-9);
  EXPECT_THAT(failed.reason, HasSubstr("slower by 10.0 %"));
  EXPECT_THAT(failed.reason, HasSubstr("after 9 pairs"));
  ASSERT_EQ(failed.evidence.size(), 9u);
  EXPECT_GE(failed.evidence.back().slower, failed.fails_from);
  EXPECT_LT(failed.evidence.front().slower, 2.1) << "one pair at most doubles the capital";
  const GateDecision passed = Judged(std::vector<double>(8, 0.001)).Decide();
  EXPECT_EQ(passed.verdict, GateVerdict::kPass);
  EXPECT_THAT(passed.reason, HasSubstr("under the limit of 5.0 %"));
  EXPECT_LT(*passed.upper95, 0.05);
}

TEST(GateDecision, TooFewPairs) {
  EXPECT_EQ(Judged({}).Decide().verdict, GateVerdict::kInconclusive);
  const GateDecision few = Judged(std::vector<double>(4, 1.0)).Decide();
  EXPECT_EQ(few.verdict, GateVerdict::kInconclusive);
  EXPECT_THAT(few.reason, HasSubstr("fewer than 5 decide nothing"));
  EXPECT_FALSE(few.upper95);
}

}  // namespace
}  // namespace loopscope
