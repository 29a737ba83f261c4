#include "reports/words/step_wording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "profiler/core/text.h"
#include "reports/formats.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

TEST(StepWords, SayWhatAStepIs) {
  StepFacts steps;
  EXPECT_EQ(ClockText(steps), "");
  steps.clock = ClockFacts{"optimizer:SGD#1", ClockSource::kOptimizer, false, 1, 1, 1};
  EXPECT_EQ(ClockText(steps), "A step ends with SGD.step(): 1 batch, 1 backward pass.");
  steps.clock = ClockFacts{"optimizer:Adam#2", ClockSource::kOptimizer, false, 5, 10, 2};
  EXPECT_EQ(ClockText(steps), "A step ends with Adam.step(): 5 batches, 10 backward passes, 2 optimizer calls.");
  steps.clock = ClockFacts{"backward", ClockSource::kBackward, true, {}, 1, {}};
  EXPECT_EQ(ClockText(steps),
            "Steps are guessed: one is taken to end with a backward pass: 1 backward pass. Every figure per step is a "
            "guess.");
}

TEST(StepWords, SayWhatTheMeanLeavesOut) {
  StepFacts steps;
  steps.in_mean = 1;
  steps.mean_ms = 12.5;
  EXPECT_EQ(StepText(steps), "12.5 ms on average over 1 step");
  EXPECT_EQ(TrendText(steps), "");
  steps.in_mean = 40;
  steps.disturbed = 1;
  steps.trend_pct = 35;
  steps.transient = 6;
  steps.transient_mean_ms = 477;
  EXPECT_EQ(StepText(steps),
            "12.5 ms on average over 40 undisturbed steps; 1 more was slowed down by recording details, and gives "
            "proportions only");
  EXPECT_EQ(TrendText(steps),
            "Steps get longer: by 35 % over the measured ones, so that their mean stands for none of them. The first 6 "
            "steps after warm-up took 477 ms on average and are left out.");
}

TEST(StepWords, AnEpochBoundaryIsOnlyWhereThereIsOne) {
  Report report;
  report.steps.mean_ms = 158;
  report.steps.per_epoch_ms = 1480;
  EXPECT_EQ(EpochText(report), "An epoch boundary takes 1.48 s more.");
  report.whole = WholeFacts{0, 7900, 0, 3000, 0, 50, 0, 2};
  EXPECT_EQ(EpochText(report), "");
  const std::vector<WholeRow> rows = WholeRows(report);
  ASSERT_THAT(rows, testing::SizeIs(2));
  EXPECT_EQ(rows[0].name, "50 steps");
  EXPECT_EQ(rows[1].name, "2 evaluations");
}

TEST(LinesInText, ShowsLinesAndTheRunWhereTheyAreKnown) {
  Report report;
  report.steps.mean_ms = 158;
  report.lines = {{Where{"train.py", 37, "main"}, std::nullopt, "torch.tensor", "other", 140, 88.6}};
  const auto text = [&] {
    Output output;
    EXPECT_TRUE(FindFormat("text")->write(report, output).ok());
    return output.bytes;
  };
  EXPECT_THAT(text(), testing::HasSubstr("Where a step's time goes\n"));
  EXPECT_THAT(text(), testing::Not(testing::HasSubstr("The run, as far as it was seen")));
  EXPECT_THAT(text(), testing::Not(testing::HasSubstr("worker")));
  report.whole = WholeFacts{1000, 7900, 194, 0, 0, 50, 2, 0};
  report.whole_lines = {{Where{"train.py", 32, "main"}, std::nullopt, "aten::multinomial", "epoch_start", 92, 94.8}};
  report.worker_lines = {{Where{"data.py", 9, "load"}, std::nullopt, "PIL.Image.open", "loading", 30, 75}};
  report.breakdown_ms[0] = 30;
  EXPECT_THAT(text(), testing::HasSubstr("The run, as far as it was seen\n"));
  EXPECT_THAT(text(), testing::HasSubstr("  2 starts of epochs"));
  EXPECT_THAT(text(), testing::HasSubstr("aten::multinomial"));
  EXPECT_THAT(text(), testing::HasSubstr("PIL.Image.open"));
}

TEST(Quality, SaysNoShareAboveTheWhole) {
  Quality quality;
  quality.stalls_over_1ms = 1;
  quality.probe_cost_pct = 163;
  EXPECT_EQ(DataText(quality),
            "0 events, 1 probe stall over 1 ms, did not end in order; steps that were recorded in "
            "detail took up to 2.63 times as long");
}

TEST(Counted, HasPluralsAndNoExponents) {
  EXPECT_EQ(Counted(1, "call"), "1 call");
  EXPECT_EQ(Counted(0, "call"), "0 calls");
  EXPECT_EQ(Counted(1.5, "pass", "passes"), "1.5 passes");
  EXPECT_EQ(Counted(1.0001, "call"), "1 call");
  EXPECT_EQ(TimesText(160), "160 times");
  EXPECT_EQ(TimesText(1), "once");
  EXPECT_EQ(CountText(1234.5), "1,230");
  EXPECT_EQ(CountText(12345), "12,345");
  EXPECT_EQ(CountText(HUGE_VAL), "?");
}

}  // namespace
}  // namespace loopscope
