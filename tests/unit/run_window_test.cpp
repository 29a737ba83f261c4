#include "probes/preload/run_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "probes/preload/op_load.h"
#include "probes/preload/passes.h"

namespace loopscope {
namespace {

RunWindow Started(const WindowSettings& settings) {
  RunWindow window;
  window.Start(settings);
  return window;
}

TEST(RunWindow, OpensAfterWarmUpAndClosesAfterItsSteps) {
  RunWindow window = Started({.warmup = 3, .steps = 2});
  EXPECT_FALSE(window.StepEnded(1).measure_begin);
  EXPECT_FALSE(window.StepEnded(2).measure_begin);
  EXPECT_TRUE(window.StepEnded(3).measure_begin);
  EXPECT_TRUE(window.measuring());
  EXPECT_FALSE(window.StepEnded(4).finish);
  const WindowActions last = window.StepEnded(5);
  EXPECT_TRUE(last.measure_end);
  EXPECT_TRUE(last.finish);
  EXPECT_EQ(window.measured(), 2u);
  EXPECT_FALSE(window.StepEnded(6).finish);  // once
}

TEST(RunWindow, WithoutStepsItStaysOpen) {
  RunWindow window = Started({.warmup = 0, .steps = 0});
  EXPECT_TRUE(window.StepEnded(1).measure_begin);
  for (int n = 2; n < 1000; ++n) EXPECT_FALSE(window.StepEnded(n).finish);
  EXPECT_TRUE(window.record_ops());
  EXPECT_EQ(window.measured(), 998u);
}

TEST(RunWindow, DetailCoversTheFirstStepsAfterWarmUp) {
  RunWindow window = Started({.warmup = 2, .steps = 10, .detail = 2});
  window.StepEnded(1);
  EXPECT_FALSE(window.detail());
  window.StepEnded(2);
  EXPECT_TRUE(window.detail());
  window.StepEnded(3);
  EXPECT_TRUE(window.detail());
  window.StepEnded(4);
  EXPECT_FALSE(window.detail());
}

// Which of `steps` measured steps have their ops recorded.
std::vector<bool> Recorded(RunWindow window, int steps, Thinning thinning) {
  std::vector<bool> recorded;
  window.Thin(thinning);
  window.StepEnded(0);
  for (int step = 0; step < steps; ++step) {
    recorded.push_back(window.record_ops());
    window.StepEnded(step + 1);
  }
  return recorded;
}

TEST(RunWindow, OfALongWindowOneStepInFourHasItsOpsRecorded) {
  const RunWindow window = Started({.warmup = 1, .steps = 0, .all_ops = 10});
  EXPECT_THAT(Recorded(window, 5000, Thinning::kNever), testing::Each(true));
  const std::vector<bool> recorded = Recorded(window, 10 + 4000, Thinning::kLate);
  const auto thin = recorded.begin() + 10;
  EXPECT_TRUE(std::all_of(recorded.begin(), thin, [](bool one) { return one; }));
  for (int group = 0; group < 1000; ++group) EXPECT_EQ(std::count(thin + 4 * group, thin + 4 * group + 4, true), 1);
}

TEST(RunWindow, WhereOpsHoldStepsUpItThinsEarlierAndStaysOpenForAsMany) {
  const WindowSettings settings{
      .warmup = 1, .steps = 30, .all_ops = 64, .early_ops = 10, .least_ops = 50, .more_ns = 1000};
  const std::vector<bool> recorded = Recorded(Started(settings), 200, Thinning::kEarly);
  EXPECT_TRUE(std::all_of(recorded.begin(), recorded.begin() + 10, [](bool one) { return one; }));
  // A step in each four of those after the first 10; when the 30th is over, so is the window.
  EXPECT_EQ(std::ranges::count(recorded, true), 30);
  EXPECT_EQ(std::count(recorded.begin(), recorded.begin() + 10 + 4 * 20, true), 30);
  const std::vector<bool> late = Recorded(Started(settings), 200, Thinning::kLate);
  EXPECT_TRUE(std::all_of(late.begin(), late.begin() + 30, [](bool one) { return one; }));
  EXPECT_EQ(std::ranges::count(late, true), 30);
}

TEST(RunWindow, ForMoreOpsItStaysOpenForSomeTimeOnly) {
  const WindowSettings settings{
      .warmup = 1, .steps = 30, .all_ops = 64, .early_ops = 10, .least_ops = 50, .more_ns = 7};
  EXPECT_EQ(Recorded(Started(settings), 200, Thinning::kEarly).size(), 200u);
  RunWindow window = Started(settings);
  window.Thin(Thinning::kEarly);
  std::uint64_t step = 0;
  while (!window.StepEnded(step).measure_end) ++step;
  EXPECT_EQ(step, 30u + 7u);
  EXPECT_EQ(window.measured(), 37u);
}

TEST(RunWindow, WeighsOpsInTheStepsBetweenDetailAndThinning) {
  RunWindow window = Started({.warmup = 1, .steps = 50, .detail = 2, .all_ops = 64, .early_ops = 5});
  std::vector<std::uint64_t> weighed;
  for (std::uint64_t step = 0; step < 10; ++step) {
    if (window.weighs_ops()) weighed.push_back(window.measured());
    window.StepEnded(step);
  }
  EXPECT_THAT(weighed, testing::ElementsAre(2, 3, 4));
}

TEST(OpLoad, IsHeavyWhereMostStepsAreShortForTheirRecords) {
  OpLoad load;
  std::uint64_t time_ns = 0, records = 0;
  const auto step = [&](std::uint64_t ns, std::uint64_t count, bool counts = true) {
    load.StepEnded(time_ns += ns, records += count, counts);
  };
  EXPECT_FALSE(load.heavy());
  step(50'000'000, 5000, false);
  step(3'000'000, 300);  // 10 us for each
  EXPECT_TRUE(load.heavy());
  step(90'000'000, 300);  // delayed by something else
  EXPECT_FALSE(load.heavy());
  step(3'000'000, 300);
  EXPECT_TRUE(load.heavy());
  for (int n = 0; n < 3; ++n) step(30'000'000, 300);
  EXPECT_FALSE(load.heavy());
}

// Periodic work is recorded as often as any other.
TEST(RunWindow, NoRegularEventHidesBetweenTheRecordedSteps) {
  constexpr int kOccurrences = 200;
  for (int period = 2; period <= 100; ++period) {
    const std::vector<bool> recorded =
        Recorded(Started({.warmup = 1, .steps = 0, .all_ops = 1}), period * (kOccurrences + 1), Thinning::kLate);
    for (const int phase : {0, 1, period - 1}) {
      int seen = 0;
      for (int n = 0; n < kOccurrences; ++n) seen += recorded[static_cast<std::size_t>(1 + n * period + phase)];
      EXPECT_NEAR(seen, kOccurrences / 4, kOccurrences / 8) << "period " << period << ", phase " << phase;
    }
  }
}

TEST(RunWindow, AtAnEpochBoundaryOpsAreRecordedInAnyCase) {
  RunWindow window = Started({.warmup = 1, .steps = 0, .detail = 1, .all_ops = 1});
  window.EpochStarted();
  window.StepEnded(0);
  std::uint64_t step = 1;
  while (window.record_ops()) window.StepEnded(step++);
  window.EpochEnding();
  EXPECT_TRUE(window.record_ops());
}

TEST(RunWindow, GoesOnUntilTheTrainingAfterAnEpochBoundary) {
  RunWindow window = Started({.warmup = 1, .steps = 2, .detail = 1, .until_epoch = true, .time_ns = 1000});
  window.EpochStarted();
  window.StepEnded(1);
  window.StepEnded(2);
  const WindowActions closed = window.StepEnded(3);
  EXPECT_TRUE(closed.measure_end);
  EXPECT_FALSE(closed.finish);
  EXPECT_FALSE(window.record_ops());
  EXPECT_FALSE(window.StepEnded(4).finish);
  window.EpochEnding();
  EXPECT_TRUE(window.record_ops());
  EXPECT_TRUE(window.detail());
  window.EpochStarted();
  EXPECT_FALSE(window.StepEnded(5).finish);
  EXPECT_TRUE(window.StepEnded(6).finish);
}

TEST(RunWindow, RanksWhoseTimeIsUpProposeAnEndAndComeToTheAgreedOne) {
  const WindowSettings settings = {
      .warmup = 1, .steps = 1, .detail = 0, .until_epoch = true, .time_ns = 100, .ends_together = true};
  RunWindow early = Started(settings), late = Started(settings);
  for (RunWindow* rank : {&early, &late}) {
    rank->EpochStarted();
    rank->StepEnded(1);
    EXPECT_FALSE(rank->awaits_common_end()) << "in the window";
    rank->StepEnded(2);
    EXPECT_TRUE(rank->awaits_common_end());
  }
  const WindowActions up = early.StepEnded(102);  // step 3
  EXPECT_FALSE(up.finish);
  EXPECT_EQ(up.propose_end, 4u);
  early.EndAt(4);
  EXPECT_FALSE(early.awaits_common_end());
  EXPECT_FALSE(late.StepEnded(101).finish) << "step 3, whose time is not up";
  late.EndAt(4);
  for (RunWindow* rank : {&early, &late}) {
    const WindowActions last = rank->StepEnded(103);
    EXPECT_TRUE(last.finish);
    EXPECT_EQ(last.propose_end, 0u);
  }
}

TEST(RunWindow, ABoundaryEndsTheRunBeforeTheAgreedStep) {
  RunWindow window = Started({.warmup = 1, .steps = 1, .until_epoch = true, .time_ns = 100, .ends_together = true});
  window.EpochStarted();
  window.StepEnded(1);
  window.StepEnded(2);
  window.EndAt(50);
  window.EpochEnding();
  window.EpochStarted();
  EXPECT_FALSE(window.StepEnded(3).finish);
  EXPECT_TRUE(window.StepEnded(4).finish);
}

TEST(RunWindow, ABoundaryInsideTheWindowIsEnough) {
  RunWindow window = Started({.warmup = 1, .steps = 4, .detail = 1, .until_epoch = true, .time_ns = 1000});
  window.EpochStarted();
  window.StepEnded(1);
  window.EpochEnding();
  EXPECT_TRUE(window.detail());
  window.EpochStarted();
  window.StepEnded(2);
  EXPECT_TRUE(window.detail());
  window.StepEnded(3);
  EXPECT_FALSE(window.detail());
  window.StepEnded(4);
  EXPECT_TRUE(window.StepEnded(5).finish);
}

TEST(RunWindow, ABoundaryDuringWarmUpDoesNotCount) {
  RunWindow window = Started({.warmup = 2, .steps = 1, .detail = 1, .until_epoch = true, .time_ns = 1000});
  window.EpochStarted();
  window.StepEnded(1);
  window.EpochEnding();
  window.EpochStarted();
  window.StepEnded(2);
  EXPECT_FALSE(window.StepEnded(3).finish);
}

TEST(RunWindow, WaitsForABoundaryNoLongerThanItsTime) {
  RunWindow window = Started({.warmup = 1, .steps = 1, .until_epoch = true, .time_ns = 100});
  window.EpochStarted();
  window.StepEnded(10);
  EXPECT_FALSE(window.StepEnded(20).finish);
  EXPECT_FALSE(window.StepEnded(119).finish);
  EXPECT_TRUE(window.StepEnded(120).finish);
}

TEST(RunWindow, WithoutALoaderThereIsNoBoundaryToWaitFor) {
  RunWindow window = Started({.warmup = 1, .steps = 1, .until_epoch = true, .time_ns = 100});
  window.StepEnded(1);
  EXPECT_TRUE(window.StepEnded(2).finish);
}

const int train = 0, test = 0;

TEST(Passes, AnEpochOfALoaderWithoutWorkers) {
  Passes passes;
  passes.Reset(&train, 1);
  for (std::uint64_t at = 10; at <= 30; at += 10) {
    EXPECT_EQ(passes.Batch(&train, at, 32).end_ns, 0u);
    EXPECT_EQ(passes.Backward().start_ns, at == 10 ? 1u : 0u);
    passes.StepEnded(at + 5);
  }
  EXPECT_EQ(passes.samples_total(), 96u);
  EXPECT_TRUE(passes.RanOut(&train, 40));
  EXPECT_FALSE(passes.in_flight());
  EXPECT_EQ(passes.Reset(&test, 50).end_ns, 40u);
}

TEST(Passes, EvaluationIsNoEpoch) {
  Passes passes;
  passes.Reset(&train, 1);
  passes.Batch(&train, 2, 8);
  passes.Backward();
  passes.Reset(&test, 3);
  passes.Batch(&test, 4, 100);
  EXPECT_FALSE(passes.RanOut(&test, 5));
  EXPECT_TRUE(passes.evaluates());
  // Training goes on in the same epoch.
  EXPECT_EQ(passes.Batch(&train, 6, 8).end_ns, 0u);
  EXPECT_FALSE(passes.evaluates());
  EXPECT_EQ(passes.Backward().start_ns, 0u);
  EXPECT_EQ(passes.samples_total(), 16u);
}

TEST(Passes, ALoaderWithWorkersRunsOutBeforeItsLastBatches) {
  Passes passes;
  passes.Reset(&train, 1);
  std::uint64_t now = 1;
  for (const std::uint64_t size : {32, 32, 20}) passes.Batch(&train, ++now, size);  // kept in flight
  EXPECT_FALSE(passes.RanOut(&train, ++now));  // with the first batch: not known to train yet
  passes.Backward();
  EXPECT_EQ(passes.samples_total(), 32u);
  passes.StepEnded(++now);
  EXPECT_TRUE(passes.RanOut(&train, ++now));  // with the second
  EXPECT_TRUE(passes.in_flight());
  passes.Backward();
  passes.StepEnded(++now);
  EXPECT_FALSE(passes.RanOut(&train, ++now));
  passes.Backward();
  const std::uint64_t last_step = ++now;
  passes.StepEnded(last_step);
  EXPECT_EQ(passes.samples_total(), 84u);
  EXPECT_EQ(passes.CloseExhausted().end_ns, last_step + 1);
  EXPECT_EQ(passes.CloseExhausted().end_ns, 0u);
}

TEST(Passes, TwoBackwardPassesOnOneBatchCountItOnce) {
  Passes passes;
  for (std::uint64_t n = 0; n < 3; ++n) {
    passes.Batch(&train, n + 1, 16);
    passes.Backward();
    passes.Backward();
  }
  EXPECT_EQ(passes.samples_total(), 48u);
}

TEST(Passes, ManySamplersDoNotDisturbTheTraining) {
  Passes passes;
  const char others[40] = "";
  passes.Reset(&train, 1);
  for (std::uint64_t n = 0; n < 40; ++n) {
    passes.Batch(&train, 10 * n + 2, 4);
    passes.Backward();
    passes.Reset(&others[n], 10 * n + 3);
    passes.Batch(&others[n], 10 * n + 4, 1000);
    passes.RanOut(&others[n], 10 * n + 5);
  }
  EXPECT_EQ(passes.samples_total(), 160u);
}

}  // namespace
}  // namespace loopscope
