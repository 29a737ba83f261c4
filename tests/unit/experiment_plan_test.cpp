#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/experiments/plan.h"
#include "profiler/experiments/prove/arms.h"
#include "profiler/treatments/treatments.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Candidate> FirstTreatments(int count) {
  std::vector<Candidate> candidates;
  for (int i = 0; i < count; ++i) candidates.push_back({AllTreatments()[i], {"on"}, {}, 100.0 - i});
  return candidates;
}

ExperimentPlan TimedPlan(int count, double seconds_per_launch, int alone = -1) {
  ExperimentPlan plan = PlanArms(FirstTreatments(count), std::vector<bool>(count, true), alone);
  for (Arm& arm : plan.arms) arm.wall_s = seconds_per_launch;
  return plan;
}

std::vector<std::string> Names(const ExperimentPlan& plan) {
  std::vector<std::string> names;
  for (const Arm& arm : plan.arms) names.push_back(arm.name);
  return names;
}

// The candidates that the arm switches on.
std::vector<int> Members(const Arm& arm, const std::vector<Candidate>& candidates) {
  std::vector<int> members;
  for (const auto& setting : arm.settings) {
    const auto of = std::ranges::find(candidates, setting, &Candidate::KeyAndValue);
    members.push_back(static_cast<int>(of - candidates.begin()));
  }
  return members;
}

TEST(PlanArms, AllWithoutEachAndTheCostliestAlone) {
  const std::vector<Candidate> candidates = FirstTreatments(5);
  const ExperimentPlan plan = PlanArms(candidates, std::vector<bool>(5, true), -1);
  EXPECT_EQ(plan.arms.size(), 2u + 5 + 3);
  EXPECT_EQ(plan.comparisons.size(), 5u + 3);
  EXPECT_THAT(Members(plan.arms[kAllArm], candidates), ElementsAre(0, 1, 2, 3, 4));
  for (const PlannedComparison& one : plan.comparisons) {
    const Arm& arm = plan.arms[one.arm];
    EXPECT_EQ(one.reference, one.with_others ? kAllArm : kBaselineArm);
    EXPECT_EQ(arm.settings.size(), one.with_others ? 4u : 1u);
    EXPECT_EQ(std::ranges::count(Members(arm, candidates), one.subject), one.with_others ? 0 : 1);
    if (!one.with_others) {
      EXPECT_LT(one.subject, 3);
    }
  }
  EXPECT_EQ(PlanArms(candidates, std::vector<bool>(5, true), 5).arms.size(), 2u + 5 + 5);
  EXPECT_EQ(PlanArms(candidates, std::vector<bool>(5, true), 0).arms.size(), 2u + 5);
}

TEST(PlanArms, TwoFixesShareTheirArms) {
  const std::vector<Candidate> candidates = FirstTreatments(2);
  const ExperimentPlan plan = PlanArms(candidates, {true, true}, -1);
  EXPECT_EQ(plan.arms.size(), 4u);
  ASSERT_EQ(plan.comparisons.size(), 4u);
  EXPECT_EQ(plan.comparisons[0].arm, plan.comparisons[3].arm);  // ALL without the first is the second alone
}

TEST(PlanArms, OneFixIsAll) {
  const std::vector<Candidate> candidates = FirstTreatments(1);
  const ExperimentPlan plan = PlanArms(candidates, {true}, -1);
  EXPECT_THAT(Names(plan), ElementsAre("baseline", "ALL"));
  ASSERT_EQ(plan.comparisons.size(), 1u);
  EXPECT_FALSE(plan.comparisons[0].with_others);
}

TEST(PlanArms, WhatFailsTogetherIsMeasuredAlone) {
  const std::vector<Candidate> candidates = FirstTreatments(3);
  const ExperimentPlan plan = PlanArms(candidates, {true, true, false}, 0);
  EXPECT_THAT(Members(plan.arms[kAllArm], candidates), ElementsAre(0, 1));
  ASSERT_EQ(plan.comparisons.size(), 3u);
  EXPECT_FALSE(plan.comparisons[2].with_others);
  EXPECT_THAT(Members(plan.arms[plan.comparisons[2].arm], candidates), ElementsAre(2));
}

TEST(PlanArms, NothingTogetherMeansNoAllArm) {
  const std::vector<Candidate> candidates = FirstTreatments(2);
  ExperimentPlan plan = PlanArms(candidates, {false, false}, 0);
  EXPECT_EQ(plan.arms[kAllArm].repeats, 0);
  for (Arm& arm : plan.arms) arm.wall_s = 1;
  ShapePlan(plan, {}, 1000);
  EXPECT_EQ(plan.launches_per_block(), 3);
}

TEST(ShapePlan, PlentyOfTimeGivesTheExactFormWithOneReference) {
  ExperimentPlan plan = TimedPlan(10, 2);
  ShapePlan(plan, {}, 900);
  EXPECT_EQ(plan.blocks, 12);
  EXPECT_EQ(plan.arms[kAllArm].repeats, 1);
  EXPECT_EQ(plan.fresh_blocks, 4);
  EXPECT_TRUE(plan.shortage.empty());
}

TEST(ShapePlan, FewBlocksRepeatTheReference) {
  ExperimentOptions options;
  options.blocks = 6;
  ExperimentPlan plan = TimedPlan(10, 2);
  ShapePlan(plan, options, 900);
  EXPECT_EQ(plan.blocks, 6);
  EXPECT_EQ(plan.arms[kAllArm].repeats, 3);
}

TEST(ShapePlan, ShortTimeGivesUpAloneArmsThenRepeats) {
  ExperimentPlan plan = TimedPlan(10, 2);
  ShapePlan(plan, {}, 200);
  EXPECT_EQ(plan.blocks, 6);
  EXPECT_LE(plan.seconds(), 200);
  EXPECT_EQ(std::ranges::count(plan.comparisons, false, &PlannedComparison::with_others), 1);
  EXPECT_EQ(plan.arms[kAllArm].repeats, 3);

  ExperimentPlan shorter = TimedPlan(10, 2);
  ShapePlan(shorter, {}, 170);
  EXPECT_EQ(shorter.blocks, 6);
  EXPECT_EQ(std::ranges::count(shorter.comparisons, false, &PlannedComparison::with_others), 0);
  EXPECT_EQ(shorter.arms[kAllArm].repeats, 1);
  for (const PlannedComparison& one : shorter.comparisons) EXPECT_LT(one.arm, static_cast<int>(shorter.arms.size()));

  // The user's request is kept, with fewer blocks.
  ExperimentOptions asked;
  asked.alone = 3;
  ExperimentPlan kept = TimedPlan(10, 2, 3);
  ShapePlan(kept, asked, 190);
  EXPECT_EQ(std::ranges::count(kept.comparisons, false, &PlannedComparison::with_others), 3);
  EXPECT_EQ(kept.blocks, 5);
}

TEST(ShapePlan, TheLeastCostlyFixesAreLeftOutWhereTimeIsTooShortForAll) {
  ExperimentPlan plan = TimedPlan(10, 2);
  ShapePlan(plan, {}, 100);  // 4 x 24 s for the blocks of all, and 19 s for the fresh ones
  EXPECT_EQ(plan.blocks, 4);
  EXPECT_EQ(plan.fresh_blocks, 4);
  EXPECT_EQ(plan.left_out, 2);
  EXPECT_EQ(plan.launches_per_block(), 2 + 8);
  EXPECT_LE(plan.seconds(), 100);
  for (const PlannedComparison& one : plan.comparisons) {
    EXPECT_EQ(one.verdict, one.subject < 8 ? TrialVerdict::kOpen : TrialVerdict::kInconclusive);
    EXPECT_EQ(plan.arms[one.arm].repeats, one.subject < 8 ? 1 : 0);
  }
  EXPECT_THAT(plan.arms[kAllArm].settings.size(), 10u) << "it is applied all the same";
  EXPECT_THAT(plan.Describe(0), testing::Contains(HasSubstr("2 of the fixes, the least costly")));

  // Three are kept.
  ExperimentPlan fewest = TimedPlan(10, 2);
  ShapePlan(fewest, {}, 65);
  EXPECT_EQ(fewest.blocks, 4);
  EXPECT_EQ(fewest.left_out, 7);
}

TEST(ShapePlan, PilotsThatAreToBeLaunchedTakeTimeToo) {
  ExperimentPlan plan = TimedPlan(10, 2);
  for (std::size_t arm = 2; arm < plan.arms.size(); ++arm) plan.arms[arm].to_pilot = true;
  ShapePlan(plan, {}, 170);
  EXPECT_LE(plan.seconds() + 10 * 2, 170);
  EXPECT_EQ(std::ranges::count(plan.comparisons, false, &PlannedComparison::with_others), 0)
      << "given up without a pilot";
  EXPECT_EQ(plan.left_out, 0);
}

TEST(ShapePlan, VerdictsComeBeforeTheRecommendedSet) {
  ExperimentPlan plan = TimedPlan(10, 2);
  ShapePlan(plan, {}, 50);  // 4 x 10 s for the blocks of three fixes, and 19 s for the fresh ones
  EXPECT_EQ(plan.blocks, 4);
  EXPECT_EQ(plan.fresh_blocks, 0);
  EXPECT_THAT(plan.shortage, HasSubstr("no fresh blocks"));

  ExperimentPlan one = TimedPlan(10, 2);
  ShapePlan(one, {}, 30);  // 4 x 6 s for the blocks of the costliest fix
  EXPECT_EQ(one.blocks, 4);
  EXPECT_EQ(one.left_out, 9);
  EXPECT_EQ(one.arms[one.comparisons.front().arm].repeats, 1) << "the costliest is kept";

  ExperimentPlan none = TimedPlan(10, 2);
  ShapePlan(none, {}, 20);
  EXPECT_LT(none.blocks, 4);
  EXPECT_THAT(none.shortage, HasSubstr("nothing can be called faster or slower: 96 s more are needed"));
}

TEST(LaunchWindow, HoldsTwentyStepsTwoSecondsAndTheLoader) {
  const ExperimentOptions options;
  EXPECT_EQ(PilotWindow(options, 0, 0).steps, 20);
  EXPECT_EQ(PilotWindow(options, 0, 32).steps, 32);  // of an epoch, with its boundary
  EXPECT_EQ(PilotWindow(options, 0, 0).warmup, 10);
  EXPECT_EQ(PilotWindow(options, 8, 0).warmup, 16);
  EXPECT_EQ(PilotWindow(options, 8, 0).steps, 64);
  EXPECT_EQ(FinalWindow(options, 0, 0, 15).steps, 134);  // 2 s of 15 ms
  EXPECT_EQ(FinalWindow(options, 0, 0, 500).steps, 20);
  EXPECT_EQ(FinalWindow(options, 0, 400, 500).steps, 400);
  EXPECT_EQ(FinalWindow(options, 8, 0, 500).steps, 64);
  EXPECT_LE(FinalWindow(options, 0, 0, 1e-6).steps, 100'000);
  ExperimentOptions fixed;
  fixed.steps = 33;
  EXPECT_EQ(FinalWindow(fixed, 0, 400, 15).steps, 33);
}

TEST(LaunchWindow, WholeEpochsWhereOneBeginsInIt) {
  ExperimentOptions options;
  const LaunchWindow held = WholeEpochs({10, 40}, 20, options, 50);
  EXPECT_EQ(held.steps, 40);
  EXPECT_FALSE(held.whole_epochs) << "the first epoch holds it";
  const LaunchWindow whole = WholeEpochs({10, 40}, 50, options, 30);
  EXPECT_EQ(whole.steps, 60);
  EXPECT_TRUE(whole.whole_epochs);
  EXPECT_EQ(WholeEpochs({10, 40}, 31, options, 30).steps, 30) << "about as many";
  EXPECT_EQ(WholeEpochs({10, 40}, 20, options, 13).steps, 26) << "but never fewer than are needed";
  EXPECT_EQ(WholeEpochs({10, 40}, 20, options, 49).steps, 49);
  EXPECT_FALSE(WholeEpochs({10, 40}, 20, options, 0).whole_epochs) << "nobody knows how long one is";
  options.steps = 40;
  EXPECT_FALSE(WholeEpochs({10, 40}, 40, options, 30).whole_epochs);
  EXPECT_EQ(WholeEpochs({10, 40}, 40, options, 30).steps, 40) << "as the user asks";
  EXPECT_TRUE(WholeEpochs({10, 40}, 40, options, 20).whole_epochs);
}

TEST(LaunchWindow, IsDescribed) {
  EXPECT_EQ(DescribeWindow({10, 40}), "10 steps of warm-up, 40 measured");
  EXPECT_EQ(DescribeWindow({10, 24, true}), "10 steps of warm-up, 24 measured, in whole epochs");
}

TEST(LaunchWindow, LoadersRunAheadByTwoBatchesPerWorker) {
  EXPECT_EQ(RunAhead(std::vector<Candidate>{{FindTreatment("loader.workers"), {"2", "8"}, {}, 0}}, {}), 16);
  EXPECT_EQ(RunAhead(std::vector<Candidate>{{FindTreatment("amp"), {"bf16"}, {}, 0}}, {}), 0);
}

TEST(LaunchWindow, WorkersAndPrefetchAreEachTheMostOfAnyArm) {
  const Candidate workers{FindTreatment("loader.workers"), {"8", "2"}, {}, 0};
  const Candidate prefetch{FindTreatment("loader.prefetch"), {"4", "8"}, {}, 0};
  EXPECT_EQ(RunAhead(std::vector{prefetch}, {.workers = 4, .prefetch = 2}), 32);
  EXPECT_EQ(RunAhead(std::vector{workers, prefetch}, {}), 64);
  EXPECT_EQ(RunAhead(std::vector{workers}, {.workers = 4, .prefetch = 6}), 48);
  EXPECT_EQ(RunAhead(std::vector{workers}, {.workers = 12, .prefetch = 1}), 12);
  EXPECT_EQ(RunAhead(std::vector{prefetch}, {}), 0);  // no workers to prefetch
}

TEST(Describe, SaysWhatWillBeLaunched) {
  ExperimentOptions options;
  options.blocks = 6;
  const std::vector<Candidate> candidates = FirstTreatments(2);
  ExperimentPlan plan = PlanArms(candidates, {true, true}, 0);
  for (Arm& arm : plan.arms) arm.wall_s = 5;
  plan.window = {10, 40};
  ShapePlan(plan, options, 900);
  EXPECT_THAT(plan.Describe(20),
              ElementsAre("ALL = loader.workers=on; debug=on",
                          "6 blocks, each in random order: baseline, ALL, ALL-loader.workers, ALL-debug",
                          "each launch: 10 steps of warm-up, 40 measured",
                          "then at least 4 fresh blocks of the recommended set against the baseline",
                          "about 2 min 40 s for 32 launches (20 s already spent)"));
}

}  // namespace
}  // namespace loopscope
