// `prove` under a short budget: the first fix has an arm beside the pairs of all fixes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "profiler/experiments/verdicts.h"
#include "tests/support/sanitized.h"
#include "tests/support/until_decided.h"

namespace loopscope {
namespace {

using testing::HasSubstr;
using namespace test;

ScriptedProgram StartsSlowly(unsigned seed) {
  ScriptedProgram program = TwoGains(seed);
  program.startup_s = 6;
  return program;
}

// Holds six rounds of three launches of such a program, but no four blocks after six pairs.
constexpr double kShortBudgetS = 195;

// No four blocks of one fix fit after six pairs, but an arm beside them.
TEST(FirstFix, TheFirstFixIsMeasuredBesideThePairsOfAShortBudget) {
  ScriptedProgram program = StartsSlowly(14);
  program.treatments["cudnn.benchmark"] = {.factor = 0.9};
  std::vector<Candidate> fixes = TwoFixes();
  fixes.push_back(OneFix("cudnn.benchmark", "on"));
  const Report report = Proved(SetFirst(fixes, kShortBudgetS), program);
  EXPECT_GE(LaunchesOf(program, "pair ", ", ALL-amp"), 6);
  EXPECT_EQ(LaunchesOf(program, "block ") + LaunchesOf(program, "arm pilot"), 0);
  ASSERT_TRUE(report.combined && report.combined->ci95);
  EXPECT_EQ(report.combined->method, "bets");
  EXPECT_NEAR(*report.combined->speedup / (1.5 * 1.3 / 0.9), 1, 0.1);
  ASSERT_EQ(report.trials.size(), 3u);
  EXPECT_EQ(report.trials[0].treatment, "amp");
  EXPECT_EQ(report.trials[0].context, "with-others");
  EXPECT_EQ(report.trials[0].verdict, TrialVerdict::kFaster) << report.trials[0].reason;
  EXPECT_EQ(report.trials[0].p, report.trials[0].p_holm) << "it is a question of its own";
  EXPECT_NEAR(*report.trials[0].speedup, 1.5, 0.1);
  for (const TrialRow& row : std::span(report.trials).subspan(1)) {
    EXPECT_EQ(row.verdict, TrialVerdict::kInconclusive);
    EXPECT_THAT(row.reason, HasSubstr("the budget left no blocks for it"));
  }
  EXPECT_THAT(report.plan, testing::Contains(HasSubstr("baseline, ALL, ALL-amp")));
}

TEST(FirstFix, WhatIsDecidedFirstIsLaunchedNoMore) {
  ScriptedProgram program = StartsSlowly(15);
  program.treatments["amp"] = {.factor = 1 / 1.01};
  program.noise = 0.02;
  const Report report = Proved(SetFirst(TwoFixes(), kShortBudgetS), program);
  EXPECT_LT(LaunchesOf(program, "pair ", ", baseline"), LaunchesOf(program, "pair ", ", ALL-amp"));
  EXPECT_EQ(LaunchesOf(program, "pair ", ", ALL"), LaunchesOf(program, "pair ", ", ALL-amp"));
  EXPECT_EQ(report.combined->n, LaunchesOf(program, "pair ", ", baseline"));
}

TEST(FirstFix, AFirstFixWithoutWhichTheOthersFailIsSaidToBe) {
  ScriptedProgram program = StartsSlowly(16);
  program.dies = [](const LaunchSpec& spec, int) { return spec.label.find(", ALL-amp") != spec.label.npos; };
  const Report report = Proved(SetFirst(TwoFixes(), kShortBudgetS), program);
  EXPECT_EQ(report.trials[0].verdict, TrialVerdict::kFailed);
  EXPECT_THAT(report.trials[0].reason, HasSubstr("without it the others fail in pair 1"));
  ASSERT_TRUE(report.combined && report.combined->ci95) << "the set is measured all the same";
}

// Its false calls: the set gains nothing, and neither does the first fix, beside noise of heavy tails and drift.
TEST(FirstFix, RoundsOfThreeKeepTheirPromise) {
  constexpr int kRuns = kSanitized ? 20 : 200;
  constexpr int kMost = kSanitized ? 3 : 19;  // 5 % and three standard deviations
  int measured = 0, of_set = 0, of_fix = 0;
  for (unsigned run = 0; run < kRuns; ++run) {
    ScriptedProgram program = StartsSlowly(1000 + run);
    program.heavy_tails = true;
    program.drift = 0.002;
    program.treatments["amp"] = program.treatments["grad.set_to_none"] = {};
    const Report report = Proved(SetFirst(TwoFixes(), kShortBudgetS), program);
    if (!report.combined || !report.combined->ci95 || report.trials.empty()) continue;
    measured += LaunchesOf(program, "pair ", ", ALL-amp") > 0;
    const auto& ci95 = *report.combined->ci95;
    of_set += ci95[0] > 1 || ci95[1] < 1;
    of_fix += report.trials[0].verdict == TrialVerdict::kFaster || report.trials[0].verdict == TrialVerdict::kSlower;
  }
  EXPECT_GT(measured, kRuns / 2);
  EXPECT_LE(of_set, kMost);
  EXPECT_LE(of_fix, kMost);
}

// Only comparisons with blocks share the risk.
TEST(Judgement, WhatTheBudgetLeftNoBlockForDoesNotCount) {
  const auto judged = [](bool second_was_tried) {
    ExperimentPlan plan;
    plan.arms = {{.name = "baseline"}, {.name = "ALL"}, {.name = "ALL-a"}, {.name = "ALL-b"}};
    plan.comparisons = {{.subject = 0, .arm = 2, .reference = kAllArm}, {.subject = 1, .arm = 3, .reference = kAllArm}};
    plan.EndComparisons(3, TrialVerdict::kInconclusive, "the budget left no blocks for it");
    Observations observed;
    observed.blocks = 4;
    for (int block = 0; block < observed.blocks; ++block) {
      for (const int arm : {1, 2, 3}) {
        if (arm == 3 && !(second_was_tried && block == 0)) continue;
        LaunchResult result;
        result.ms_per_step = arm == 2 ? 110 + block : 100;
        observed.rows.push_back({block, arm, arm, result});
      }
    }
    const std::vector<TrialRow> subjects(2);
    return JudgeComparisons(plan, observed, subjects, Metric::kStepTime, 0.02).front();
  };
  const TrialRow alone = judged(false), of_two = judged(true);
  EXPECT_DOUBLE_EQ(*alone.p_holm, *alone.p);
  EXPECT_DOUBLE_EQ(*of_two.p_holm, 2 * *of_two.p);
}

}  // namespace
}  // namespace loopscope
