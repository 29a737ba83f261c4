#include "probes/preload/step_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loopscope {
namespace {

using testing::ElementsAre;
using wire::RangeCategory;

TEST(StepSums, AreByCategoryAndOfOneStep) {
  StepSums sums;
  EXPECT_FALSE(sums.Take(0, 100).whole) << "what came before the first step belongs to start-up too";
  sums.Add(RangeCategory::kLoader, 100, 110);
  sums.Add(RangeCategory::kForward, 110, 130);
  sums.Add(RangeCategory::kBackward, 130, 170);
  sums.Add(RangeCategory::kZeroGrad, 170, 175);
  sums.Add(RangeCategory::kOptimizer, 180, 190);
  sums.Add(RangeCategory::kPause, 190, 195);
  const StepSums::Taken first = sums.Take(100, 200);
  EXPECT_TRUE(first.whole);
  EXPECT_THAT(first.ns, ElementsAre(10, 20, 40, 15, 0, 0, 0, 0));
  EXPECT_THAT(sums.Take(200, 300).ns, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0)) << "taken once";
}

TEST(StepSums, ARangeInAnotherCountsOnce) {
  StepSums sums;
  sums.Take(0, 100);
  sums.Add(RangeCategory::kLoader, 110, 120);  // the data set has a loader of its own
  sums.Add(RangeCategory::kLoader, 105, 130);
  sums.Add(RangeCategory::kLoader, 140, 150);
  EXPECT_EQ(sums.Take(100, 200).ns[0], 35);
}

TEST(StepSums, OfAStepThatWasWrittenLateAreUnknown) {
  StepSums sums;
  sums.Take(0, 100);
  sums.Add(RangeCategory::kLoader, 110, 120);
  EXPECT_FALSE(sums.Take(200, 300).whole) << "the step that ended at 200 took none: its time is in here";
}

}  // namespace
}  // namespace loopscope
