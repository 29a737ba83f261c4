// `prove` without a fixed number of blocks: all fixes together come first, in pairs that end when they are enough.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/experiments/launch_series.h"
#include "tests/support/until_decided.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace test;

TEST(WholeSet, AClearGainIsKnownAfterSixPairsAndNotMeasuredAgain) {
  ScriptedProgram program = TwoGains(3);
  const Report report = Proved(SetFirst(TwoFixes()), program);
  EXPECT_LE(LaunchesOf(program, "pair "), 2 * 8);
  EXPECT_GE(LaunchesOf(program, "pair "), 2 * 6);
  ASSERT_TRUE(report.combined && report.combined->speedup && report.combined->ci95);
  EXPECT_THAT(report.combined->treatments, ElementsAre("amp=bf16", "grad.set_to_none=on"));
  EXPECT_EQ(report.combined->method, "bets");
  EXPECT_NEAR(*report.combined->speedup / (1.5 * 1.3), 1, 0.08);
  EXPECT_GT((*report.combined->ci95)[0], 1);
  EXPECT_EQ(LaunchesOf(program, "fresh "), 0) << "both are recommended: nothing was chosen";
  for (const TrialRow& row : report.trials) EXPECT_EQ(row.verdict, TrialVerdict::kFaster) << row.treatment;
}

TEST(WholeSet, BlocksWithALongerWindowThanThePairsAreComparable) {
  ScriptedProgram program = TwoGains(3);
  program.treatments["eval.no_grad"] = {.epoch_factor = 0.5};
  program.ms_per_step = 40;
  std::vector<Candidate> fixes = TwoFixes();
  fixes.push_back(OneFix("eval.no_grad", "on"));
  ExperimentInput input = SetFirst(std::move(fixes));
  input.steps_per_epoch = 68;
  const Report report = Proved(input, program);
  const auto steps = [&](const std::string& start) {
    return std::ranges::find_if(program.log, [&](const LaunchSpec& one) { return one.label.starts_with(start); })
        ->steps;
  };
  ASSERT_LT(steps("pair "), steps("block "));
  for (const TrialRow& row : report.trials)
    EXPECT_EQ(row.verdict, TrialVerdict::kFaster) << row.treatment << row.reason;
}

TEST(WholeSet, ComesBeforeThePilotsOfTheArms) {
  ScriptedProgram program = TwoGains(4);
  Proved(SetFirst(TwoFixes()), program);
  const auto first = [&](const std::string& start) {
    return std::ranges::find_if(program.log, [&](const LaunchSpec& one) { return one.label.starts_with(start); });
  };
  EXPECT_LT(first("pair "), first("arm pilot"));
  EXPECT_LT(first("arm pilot"), first("block "));
}

TEST(WholeSet, WhatIsChosenIsMeasuredAfresh) {
  ScriptedProgram program = TwoGains(5);
  program.treatments["cudnn.benchmark"] = {.factor = 1.25};
  std::vector<Candidate> fixes = TwoFixes();
  fixes.push_back(OneFix("cudnn.benchmark", "on"));
  const Report report = Proved(SetFirst(fixes), program);
  ASSERT_TRUE(report.combined && report.combined->speedup);
  EXPECT_THAT(report.combined->treatments, ElementsAre("amp=bf16", "grad.set_to_none=on"));
  EXPECT_GE(LaunchesOf(program, "fresh "), 2 * 4);
}

// The budget holds pilots and pairs, but no blocks beside them.
TEST(WholeSet, AShortBudgetAnswersTheFirstQuestionFirst) {
  ScriptedProgram program = TwoGains(6);
  const Report report = Proved(SetFirst(TwoFixes(), SpentOn(program, 13)), program);
  EXPECT_GE(LaunchesOf(program, "pair "), 2 * 4);
  EXPECT_EQ(LaunchesOf(program, "block "), 0);
  ASSERT_TRUE(report.combined && report.combined->speedup && report.combined->ci95);
  EXPECT_GT((*report.combined->ci95)[0], 1);
  for (const TrialRow& row : report.trials) {
    EXPECT_EQ(row.verdict, TrialVerdict::kInconclusive);
    EXPECT_THAT(row.reason, HasSubstr("the budget left no blocks for it"));
  }
}

// Whatever the budget leaves out is reported; everything that was measured together stays recommended.
TEST(WholeSet, AnyBudgetGivesTheSetAndSaysWhatItLeftOut) {
  for (int launches = 14; launches < 60; launches += 3) {
    ScriptedProgram program = TwoGains(11);
    const Report report = Proved(SetFirst(TwoFixes(), SpentOn(program, launches)), program);
    ASSERT_TRUE(report.combined && report.combined->ci95) << launches;
    EXPECT_THAT(report.combined->treatments, ElementsAre("amp=bf16", "grad.set_to_none=on")) << launches;
    EXPECT_NEAR(*report.combined->speedup / (1.5 * 1.3), 1, 0.1);
    for (const TrialRow& row : report.trials) {
      EXPECT_TRUE(row.verdict == TrialVerdict::kFaster || row.reason.find("the budget") != row.reason.npos)
          << launches << ": " << row.reason;
    }
  }
}

TEST(WholeSet, FourPairsAreJudgedByTheirSpread) {
  ScriptedProgram program = TwoGains(7);
  const Report report = Proved(SetFirst(TwoFixes(), SpentOn(program, 11)), program);
  ASSERT_TRUE(report.combined && report.combined->speedup);
  EXPECT_LT(report.combined->n, 6);
  EXPECT_EQ(report.combined->method, "pooled");
}

TEST(WholeSet, ASingleFixIsTheWholeSet) {
  ScriptedProgram program = TwoGains(8);
  const Report report = Proved(SetFirst({OneFix("amp", "bf16")}), program);
  EXPECT_EQ(LaunchesOf(program, "block ") + LaunchesOf(program, "fresh "), 0);
  ASSERT_EQ(report.trials.size(), 1u);
  EXPECT_EQ(report.trials[0].verdict, TrialVerdict::kFaster);
  EXPECT_EQ(report.trials[0].method, "bets");
  EXPECT_EQ(report.trials[0].context, "alone");
  ASSERT_TRUE(report.combined);
  EXPECT_EQ(report.combined->speedup, report.trials[0].speedup);
}

TEST(WholeSet, ASingleFixThatBringsNothingEndsWithItsPairs) {
  ScriptedProgram program(9);
  program.treatments["amp"] = {};
  const Report report = Proved(SetFirst({OneFix("amp", "bf16")}), program);
  EXPECT_LE(LaunchesOf(program, "pair "), 2 * 24);
  ASSERT_EQ(report.trials.size(), 1u);
  EXPECT_TRUE(report.trials[0].verdict == TrialVerdict::kInconclusive ||
              report.trials[0].verdict == TrialVerdict::kEquivalent);
  EXPECT_FALSE(report.combined) << "nothing is recommended";
}

// Screening values and comparing losses would take all of it.
TEST(WholeSet, AShortBudgetKeepsTimeForItsPairs) {
  for (int launches = 19; launches < 40; ++launches) {
    ScriptedProgram program = TwoGains(12);
    program.treatments["loader.workers"] = {.factor = 0.9};
    std::vector<Candidate> fixes = TwoFixes();
    fixes.push_back({FindTreatment("loader.workers"), {"4", "2", "1"}, {"input-starvation"}, 1});
    const double budget_s = SpentOn(program, launches);
    ExperimentInput input = SetFirst(fixes, budget_s);
    input.options.check_training = true;
    const Report report = Proved(input, program);
    ASSERT_TRUE(report.combined && report.combined->ci95) << launches;
    EXPECT_GE(report.combined->n, 4) << launches;
    const int checks = LaunchesOf(program, "check, ");
    double spent_s = 0;
    for (const LaunchSpec& spec : std::vector<LaunchSpec>(program.log)) spent_s += program(spec).wall_s;
    EXPECT_LE(spent_s, 1.1 * budget_s) << launches;
    const auto untold = std::ranges::count_if(report.trials, [](const TrialRow& row) {
      return row.loss.detail.find("the budget left no time to compare") != std::string::npos;
    });
    EXPECT_EQ(untold > 0, checks < 5) << launches << ": what was not compared is said";
  }
}

// The first launches read cold files: what the pairs took says what is left for one fix.
TEST(WholeSet, PairsQuickerThanTheirPilotsLeaveTimeForAFix) {
  ScriptedProgram program = TwoGains(21);
  program.startup_s = 6;
  const Launcher slow_pilots = [&](const LaunchSpec& spec) {
    LaunchResult result = program(spec);
    if (spec.label.starts_with("pilot")) result.wall_s *= 1.7;
    return result;
  };
  Report report;
  ASSERT_TRUE(RunExperiment(SetFirst(TwoFixes(), 220), slow_pilots, {}, report).ok());
  EXPECT_EQ(LaunchesOf(program, "pair ", ", baseline"), 6);
  EXPECT_EQ(LaunchesOf(program, "pair ", ", ALL-amp"), 0) << "no room for it beside the pairs";
  ASSERT_EQ(report.trials.front().treatment, "amp");
  EXPECT_EQ(report.trials.front().verdict, TrialVerdict::kFaster) << report.trials.front().reason;
}

TEST(WholeSet, WhatCompilesInEveryLaunchLeavesWhereItTakesTheBudget) {
  const auto proved = [](double budget_s) {
    ScriptedProgram program = TwoGains(13);
    program.treatments["compile"] = {.factor = 0.9, .starts_in_s = 60};
    std::vector<Candidate> fixes = TwoFixes();
    fixes.push_back(OneFix("compile", "on"));
    return Proved(SetFirst(fixes, budget_s), program);
  };
  const auto row = [](const Report& report) {
    return *std::ranges::find(report.trials, "compile", &TrialRow::treatment);
  };
  const Report brief = proved(180);
  EXPECT_EQ(row(brief).verdict, TrialVerdict::kDropped);
  EXPECT_THAT(row(brief).reason, HasSubstr("the budget holds no pairs with it"));
  ASSERT_TRUE(brief.combined && brief.combined->speedup);
  EXPECT_NEAR(*brief.combined->speedup / (1.5 * 1.3), 1, 0.1);
  EXPECT_EQ(row(proved(20'000)).verdict, TrialVerdict::kFaster) << "there is time for it";
}

TEST(WholeSet, AnInterruptionInItsPairsKeepsThem) {
  ScriptedProgram program = TwoGains(10);
  const ExperimentEvents events{.stop = [&] { return LaunchesOf(program, "pair 6 ") == 2; }};
  Report report;
  EXPECT_TRUE(RunExperiment(SetFirst(TwoFixes()), std::ref(program), events, report).ok());
  ASSERT_TRUE(report.combined);
  EXPECT_GE(report.combined->n, 5);
  ASSERT_FALSE(report.trials.empty());
  for (const TrialRow& row : report.trials) EXPECT_THAT(row.reason, HasSubstr("interrupted"));
}

TEST(LaunchSeries, ALaunchThatTakesFarLongerThanOthersIsEnded) {
  std::vector<double> timeouts;
  const Launcher launcher([&](const LaunchSpec& spec) {
    timeouts.push_back(spec.timeout_s);
    LaunchResult result;
    result.ms_per_step = 100;
    result.wall_s = 8;
    if (spec.label == "hangs") result.status = {LaunchEnd::kTimeout};
    return result;
  });
  const LaunchSpec usual{.warmup = 10, .steps = 30, .label = "usual"};
  LaunchSpec longer = usual, hangs = usual;
  longer.steps = 10'000;
  hangs.label = "hangs";
  const ExperimentEvents events;
  LaunchSeries series(launcher, events, nullptr, true);
  series.Insist(usual);
  series.Insist(usual);
  series.Insist(longer);
  EXPECT_EQ(series.Insist(hangs).status.end, LaunchEnd::kTimeout);
  // Nothing known; five times a launch and its 40 steps, and a minute; as many steps as that take longer.
  EXPECT_THAT(timeouts, ElementsAre(600, 60 + 5 * (8 + 4), 600, 120)) << "and what hung is not launched again";

  timeouts.clear();
  LaunchSeries asked(launcher, events, nullptr, false);
  asked.Insist(usual);
  asked.Insist(usual);
  EXPECT_THAT(timeouts, ElementsAre(600, 600)) << "--launch-timeout says it";
}

}  // namespace
}  // namespace loopscope
