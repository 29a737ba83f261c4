#include "profiler/experiments/prove/same_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A loss that falls from 2.3 by `fall`, on batches that are the same in every launch.
LaunchResult Curve(double fall, double own_noise = 0, unsigned seed = 1, int steps = 40) {
  std::mt19937 batches(3), own(seed);
  std::normal_distribution<double> batch_noise(0, 0.05), noise;
  LaunchResult launch;
  for (int step = 0; step < steps; ++step) {
    launch.losses.push_back(2.3 - fall * step / steps + batch_noise(batches) + own_noise * noise(own));
    launch.sample_hashes.push_back(100 + step);
  }
  return launch;
}

TEST(JudgeExact, EveryBitCounts) {
  LaunchResult treated = Curve(1);
  EXPECT_EQ(LossText(JudgeExact(Curve(1), treated)), "bit-identical");
  EXPECT_EQ(*JudgeExact(Curve(1), treated).max_difference, 0);
  treated.losses.back() = std::nextafter(treated.losses.back(), 10);
  const LossFacts facts = JudgeExact(Curve(1), treated);
  EXPECT_TRUE(IsDifferent(facts));
  EXPECT_GT(*facts.max_difference, 0);
}

TEST(JudgeExact, NotANumberEqualsItself) {
  LaunchResult a = Curve(1), b = Curve(1);
  a.losses[5] = b.losses[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(LossText(JudgeExact(a, b)), "bit-identical");
}

TEST(JudgeExact, FailuresAndMissingLossesCannotTell) {
  LaunchResult failed = Curve(1);
  failed.status = {LaunchEnd::kSignal, "9"};
  EXPECT_THAT(LossText(JudgeExact(Curve(1), failed)), HasSubstr("cannot tell: a check launch ended with signal 9"));
  EXPECT_TRUE(CannotTell(JudgeExact(LaunchResult{}, Curve(1))));
  EXPECT_TRUE(IsDifferent(JudgeExact(Curve(1), Curve(1, 0, 1, 39))));
}

TEST(JudgeResampled, SamplesThenLosses) {
  EXPECT_EQ(LossText(JudgeResampled(Curve(1), Curve(1))), "same samples");
  LaunchResult ahead = Curve(1);
  ahead.sample_hashes.push_back(7);  // prefetched
  EXPECT_EQ(LossText(JudgeResampled(Curve(1), ahead)), "same samples");
  EXPECT_THAT(LossText(JudgeResampled(Curve(1), Curve(1, 0.01))),
              StartsWith("cannot tell: the same samples are drawn"));
  LaunchResult others = Curve(1);
  others.sample_hashes[3] = 1;
  EXPECT_EQ(LossText(JudgeResampled(Curve(1), others)), "different: other samples are drawn");
  others.sample_hashes.clear();
  EXPECT_TRUE(CannotTell(JudgeResampled(Curve(1), others)));
}

TEST(JudgeNumeric, RoundingIsWithinAQuarterOfTheFall) {
  EXPECT_EQ(LossText(JudgeNumeric(Curve(1), Curve(1, 0.02))), "within rounding");
  EXPECT_EQ(LossText(JudgeNumeric(Curve(1), Curve(1))), "bit-identical");
  EXPECT_EQ(LossText(JudgeNumeric(Curve(1), Curve(1.1, 0.01))), "within rounding");
}

TEST(JudgeNumeric, FrozenTrainingIsCaught) {
  EXPECT_THAT(LossText(JudgeNumeric(Curve(1), Curve(0))), StartsWith("different: the loss falls by"));
  EXPECT_THAT(LossText(JudgeNumeric(Curve(1), Curve(0.3))), StartsWith("different: the loss falls by"));
  LaunchResult constant = Curve(1);
  std::ranges::fill(constant.losses, 4.15);
  EXPECT_EQ(LossText(JudgeNumeric(Curve(1), constant)), "different: the loss no longer moves");
  // Even where the untreated loss only wavers.
  EXPECT_EQ(LossText(JudgeNumeric(Curve(0), constant)), "different: the loss no longer moves");
}

TEST(JudgeNumeric, OtherCurvesAreDifferentAndDoubtfulOnesAreSaidToBe) {
  LaunchResult shifted = Curve(1);
  for (double& loss : shifted.losses) loss += 0.8;
  EXPECT_THAT(LossText(JudgeNumeric(Curve(1), shifted)), StartsWith("different: the curves are"));
  for (double& loss : shifted.losses) loss -= 0.5;
  EXPECT_THAT(LossText(JudgeNumeric(Curve(1), shifted)), StartsWith("cannot tell: the curves are"));
  shifted.losses[20] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(LossText(JudgeNumeric(Curve(1), shifted)), "different: the loss is no longer finite");
  EXPECT_THAT(LossText(JudgeNumeric(Curve(0), Curve(0, 0.01))), HasSubstr("does not fall clearly"));
  EXPECT_TRUE(CannotTell(JudgeNumeric(Curve(1, 0, 1, 4), Curve(1, 0.01, 1, 4))));
}

TEST(JudgeAgainstSpread, CallsWhatLiesOutside) {
  std::vector<LaunchResult> baselines, alike, frozen;
  for (unsigned i = 0; i < 6; ++i) baselines.push_back(Curve(1, 0.05, 10 + i));
  for (unsigned i = 0; i < 3; ++i) alike.push_back(Curve(1, 0.05, 50 + i)), frozen.push_back(Curve(0, 0.05, 80 + i));
  EXPECT_EQ(LossText(JudgeAgainstSpread(baselines, alike, 0.05)), "within the baseline's own spread");
  EXPECT_THAT(LossText(JudgeAgainstSpread(baselines, frozen, 0.05)), StartsWith("different: outside the spread"));
  baselines.pop_back();
  EXPECT_TRUE(CannotTell(JudgeAgainstSpread(baselines, frozen, 0.05)));
}

TEST(JudgeAgainstSpread, InnocentChangesAreRarelyCalled) {
  int called = 0;
  for (unsigned trial = 0; trial < 400; ++trial) {
    std::vector<LaunchResult> baselines, treated;
    for (unsigned i = 0; i < 6; ++i) baselines.push_back(Curve(1, 0.05, 1000 * trial + i));
    for (unsigned i = 0; i < 3; ++i) treated.push_back(Curve(1, 0.05, 1000 * trial + 100 + i));
    called += IsDifferent(JudgeAgainstSpread(baselines, treated, 0.05));
  }
  EXPECT_LE(called, 33);  // 5 % of 400 and three standard deviations
}

TEST(TreatedCurves, AreEnoughToReject) {
  for (const double alpha : {0.05, 0.0125, 0.005}) {
    const int curves = TreatedCurvesFor(alpha);
    double splits = 1;
    for (int i = 1; i <= curves; ++i) splits *= (kSpreadBaselines + i) / static_cast<double>(i);
    EXPECT_LE(1 / splits, alpha);
  }
  EXPECT_EQ(TreatedCurvesFor(0.05), 2);
  EXPECT_EQ(TreatedCurvesFor(0.005), 4);
}

TEST(LossText, IsReadBackAsItWasWritten) {
  for (const char* text : {"", "bit-identical", "same samples", "within rounding", "within the baseline's own spread",
                           "different: the loss no longer moves", "cannot tell: no losses: none", "cannot tell",
                           "neither: of these", "differently"}) {
    LossFacts loss;
    SetLossText(text, loss);
    EXPECT_EQ(LossText(loss), text);
    EXPECT_EQ(CannotTell(loss), std::string_view(text).starts_with("cannot tell"));
    EXPECT_EQ(IsDifferent(loss), std::string_view(text).starts_with("different:"));
  }
}

}  // namespace
}  // namespace loopscope
