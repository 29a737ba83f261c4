// The gate compared with common alternatives on the same simulated machines: how often an unchanged program fails, and
// how often one that is 5 % slower does not. docs/evidence/gate.md shows the tables that this prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "profiler/core/statistics/gate_decision.h"
#include "profiler/core/statistics/statistics.h"
#include "tests/support/simulated_machine.h"

namespace loopscope {
namespace {

using test::Machine;

constexpr int kTrials = 5000;

struct Outcome {
  bool fails = false;
  int launches = 2;
};

Outcome Gate(Machine& machine) {
  const GateLimits limits;
  GateJudge judge(limits);
  int pairs = 0;
  for (; pairs < limits.most_pairs && judge.verdict() == GateVerdict::kInconclusive; ++pairs) {
    judge.Add(machine.Pairs(1).front());
  }
  return {judge.verdict() == GateVerdict::kFail, 2 * pairs};
}

// Twelve pairs that are slower at the 10 % level by more than 2 %, and then twenty fresh ones that are too.
Outcome TwoStages(Machine& machine) {
  constexpr int kFirst = 12, kSecond = 20;
  const auto slower = [](const std::vector<double>& d) {
    return HodgesLehmann(d) > std::log(1.02) && SignedRankP(d, Tail::kGreater) <= 0.1;
  };
  if (!slower(machine.Pairs(kFirst))) return {false, 2 * kFirst};
  return {slower(machine.Pairs(kSecond)), 2 * (kFirst + kSecond)};
}

// One run of each, and a fixed threshold of 5 %.
Outcome Threshold(Machine& machine) {
  const double base = machine.Launch(false);
  return {machine.Launch(true) - base > std::log(1.05), 2};
}

// Ten runs of the one, then ten of the other; Mann and Whitney's U at the two-sided 5 % level: 23 for 10 and 10 (Mann
// and Whitney 1947, table).
Outcome MannWhitney(Machine& machine) {
  std::vector<double> base, candidate;
  for (int i = 0; i < 10; ++i) base.push_back(machine.Launch(false));
  for (int i = 0; i < 10; ++i) candidate.push_back(machine.Launch(true));
  int faster = 0;
  for (const double one : candidate) {
    faster += static_cast<int>(std::ranges::count_if(base, [&](double other) { return one < other; }));
  }
  return {faster <= 23, 20};
}

struct Shares {
  double fails_pct = 0, launches = 0;
};

// Shares of the trials, each on a machine that continues from the last.
Shares Try(Outcome (*judge)(Machine&), Machine machine, double slowdown) {
  machine.slowdown = slowdown;
  Shares shares;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Outcome one = judge(machine);
    shares.fails_pct += 100.0 * one.fails / kTrials;
    shares.launches += 1.0 * one.launches / kTrials;
  }
  return shares;
}

Machine Quiet() {
  Machine machine(1);
  machine.pair_noise = 0.03;
  return machine;
}

Machine Noisy() {
  Machine machine(2);
  machine.pair_noise = 0.05;
  return machine;
}

Machine Drifting() {
  Machine machine = Quiet();
  machine.drift = 0.001;
  return machine;
}

Machine Bursts() {
  Machine machine = Quiet();
  machine.burst_chance = 0.05;
  machine.burst = 0.2;
  return machine;
}

Machine HeavyTails() {
  Machine machine = Noisy();
  machine.heavy_tails = true;
  return machine;
}

struct Kind {
  const char* name;
  Machine (*make)();
};
constexpr Kind kKinds[] = {{"3 % noise", Quiet},
                           {"5 % noise", Noisy},
                           {"3 %, drifting by 0.1 % per launch", Drifting},
                           {"3 %, bursts of 20 %", Bursts},
                           {"5 %, heavy tails", HeavyTails}};

constexpr Outcome (*kRivals[])(Machine&) = {Gate, TwoStages, Threshold, MannWhitney};

TEST(GateRivals, OnlyProceduresOfRandomPairsKeepTheirPromiseOnEveryMachine) {
  std::printf(
      "| machine (noise of a pair) | gate | two stages | one run each, 5 %% | 10 and 10, Mann-Whitney |\n"
      "|---|---:|---:|---:|---:|\n");
  double threshold_worst = 0, ten_worst = 0;
  for (const Kind& kind : kKinds) {
    double alarms[4], misses[4];
    for (int i = 0; i < 4; ++i) {
      alarms[i] = Try(kRivals[i], kind.make(), 0).fails_pct;
      misses[i] = 100 - Try(kRivals[i], kind.make(), 0.05).fails_pct;
    }
    std::printf("| %s | %.1f / %.1f | %.1f / %.1f | %.1f / %.1f | %.1f / %.1f |\n", kind.name, alarms[0], misses[0],
                alarms[1], misses[1], alarms[2], misses[2], alarms[3], misses[3]);
    EXPECT_LE(alarms[0], 1) << kind.name;
    threshold_worst = std::max(threshold_worst, alarms[2]);
    ten_worst = std::max(ten_worst, alarms[3]);
  }
  EXPECT_GT(threshold_worst, 4);
  EXPECT_GT(ten_worst, 10) << "base first and candidate second is an order that drift favours";
}

TEST(GateRivals, TheGateTakesHalfTheLaunchesOfTwoStages) {
  std::printf(
      "\n| noise of a pair | slower by | gate | two stages | one run each, 5 %% | 10 and 10, Mann-Whitney |\n"
      "|---:|---:|---:|---:|---:|---:|\n");
  for (const double noise : {0.03, 0.05}) {
    for (const double slowdown : {0.0, 0.03, 0.05, 0.10}) {
      std::printf("| %.0f %% | %.0f %%", 100 * noise, 100 * slowdown);
      Machine machine(3);
      machine.pair_noise = noise;
      Shares shares[4];
      for (int i = 0; i < 4; ++i) {
        shares[i] = Try(kRivals[i], machine, slowdown);
        std::printf(" | %.1f %%, %.0f", shares[i].fails_pct, shares[i].launches);
      }
      std::printf(" |\n");
      EXPECT_LT(shares[0].launches, shares[1].launches);
      if (slowdown == 0.05) {
        EXPECT_LE(shares[0].launches, 0.6 * shares[1].launches);
        EXPECT_GE(shares[0].fails_pct, 95);
      }
    }
  }
}

}  // namespace
}  // namespace loopscope
