#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "profiler/core/launch.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kMs = 1'000'000;

class TraceOfMarks {
 public:
  TraceOfMarks& At(std::int64_t ms, MarkKind kind, std::uint64_t value = 0, const std::string& name = "",
                   std::uint32_t thread = 0) {
    trace_.strings.push_back(name);
    trace_.marks.push_back({ms * kMs, kind, static_cast<StringId>(trace_.strings.size() - 1), value, thread});
    return *this;
  }
  TraceOfMarks& Step(std::int64_t ms, std::uint64_t samples = 32) {
    return At(ms, MarkKind::kStepEnd, samples, "optimizer:SGD#1");
  }
  Trace& trace() { return trace_; }
  LaunchResult Facts() const { return LaunchFacts(trace_); }

 private:
  Trace trace_;
};

TEST(LaunchFacts, BlocksOfLivePairs) {
  TraceOfMarks marks;
  marks.At(0, MarkKind::kProbeOn).Step(100).At(100, MarkKind::kMeasureBegin).At(101, MarkKind::kSwitch, 0, "ab");
  marks.Step(110).Step(130).At(131, MarkKind::kSwitch, 0b10, "-");
  marks.Step(150).At(155, MarkKind::kEpochStart).Step(190).At(191, MarkKind::kSwitch, 0, "b").Step(200);
  marks.At(200, MarkKind::kMeasureEnd);
  const LaunchResult facts = marks.Facts();
  ASSERT_EQ(facts.live.size(), 2u) << "the last block was cut off";
  EXPECT_EQ(facts.live[0].on, 0b11u);
  EXPECT_EQ(facts.live[0].acted, 0b10u) << "told by the switch that ends it";
  EXPECT_THAT(facts.live[0].step_ms, ElementsAre(10, 20));
  EXPECT_EQ(facts.live[1].on, 0u);
  EXPECT_THAT(facts.live[1].step_ms, ElementsAre(20, 0)) << "an epoch boundary is no plain step";
}

TEST(LaunchFacts, MeanOfTheWindowWithItsEnd) {
  // Warm-up until 1000 ms; steps of 100, 120 and, device included, 110 ms.
  const LaunchResult facts = TraceOfMarks()
                                 .At(0, MarkKind::kProbeOn)
                                 .Step(1000)
                                 .At(1000, MarkKind::kMeasureBegin)
                                 .Step(1100)
                                 .Step(1220)
                                 .Step(1320)
                                 .At(1330, MarkKind::kMeasureEnd, 3)
                                 .Facts();
  EXPECT_EQ(facts.status.end, LaunchEnd::kOk);
  EXPECT_EQ(facts.steps, 3);
  EXPECT_DOUBLE_EQ(facts.ms_per_step, 110);
  EXPECT_DOUBLE_EQ(facts.ms_per_sample, 110.0 / 32);
  EXPECT_EQ(facts.clock, "optimizer:SGD#1");
  EXPECT_DOUBLE_EQ(facts.startup_s, 1);
  EXPECT_FALSE(facts.epoch_ms);
}

TEST(LaunchFacts, EpochBoundariesAreApart) {
  const LaunchResult facts = TraceOfMarks()
                                 .At(0, MarkKind::kMeasureBegin)
                                 .Step(100)
                                 .At(110, MarkKind::kEpochEnd)
                                 .At(390, MarkKind::kEpochStart)
                                 .Step(500)
                                 .Step(600)
                                 .At(600, MarkKind::kMeasureEnd, 3)
                                 .Facts();
  EXPECT_EQ(facts.steps, 2);
  EXPECT_DOUBLE_EQ(facts.ms_per_step, 100);
  ASSERT_TRUE(facts.epoch_ms);
  EXPECT_DOUBLE_EQ(*facts.epoch_ms, 300);
}

// Epochs of two steps: the loader works ahead for 90 ms while the first step waits.
TEST(LaunchFacts, WholeEpochsHoldTheStartOfTheirLoader) {
  TraceOfMarks marks;
  marks.At(0, MarkKind::kEpochStart).Step(100).At(100, MarkKind::kMeasureBegin).Step(110).At(115, MarkKind::kEpochEnd);
  marks.At(300, MarkKind::kEpochStart).Step(400).At(400, MarkKind::kMeasureEnd, 2);
  marks.trace().facts = {{"loader.workers", "3"}, {"loader.prefetch", "4"}};
  const LaunchResult facts = LaunchFacts(marks.trace(), true);
  EXPECT_EQ(facts.steps, 2);
  EXPECT_DOUBLE_EQ(facts.ms_per_step, (10 + 100) / 2.0) << "and not what lies between the epochs";
  EXPECT_DOUBLE_EQ(facts.ms_per_sample, 55.0 / 32);
  ASSERT_TRUE(facts.epoch_ms);
  EXPECT_DOUBLE_EQ(*facts.epoch_ms, 290 - 55);
  EXPECT_EQ(facts.steps_per_epoch, 2);
  EXPECT_EQ(facts.run_ahead, 12);
  EXPECT_DOUBLE_EQ(marks.Facts().ms_per_step, 10);
  EXPECT_EQ(TraceOfMarks().At(0, MarkKind::kMeasureBegin).Step(9).At(9, MarkKind::kMeasureEnd).Facts().run_ahead, 0);
}

TEST(LaunchFacts, StepsOfOtherThreadsAndOutsideDoNotCount) {
  const LaunchResult facts = TraceOfMarks()
                                 .Step(50)
                                 .At(100, MarkKind::kMeasureBegin)
                                 .At(150, MarkKind::kStepEnd, 1, "other", 1)
                                 .Step(200)
                                 .Step(300)
                                 .At(300, MarkKind::kMeasureEnd, 2)
                                 .Step(900)
                                 .Facts();
  EXPECT_EQ(facts.steps, 2);
  EXPECT_DOUBLE_EQ(facts.ms_per_step, 100);
}

TEST(LaunchFacts, OfSeveralRanksTheFirstCounts) {
  TraceOfMarks marks;
  for (const std::uint32_t pid : {41u, 42u}) {
    Thread thread;
    thread.pid = pid;
    marks.trace().threads.push_back(std::move(thread));
  }
  const auto loss = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const LaunchResult facts = marks.At(100, MarkKind::kMeasureBegin, 0, "", 1)
                                 .At(101, MarkKind::kMeasureBegin, 0, "", 0)
                                 .At(110, MarkKind::kLoss, loss(7.5), "", 1)
                                 .At(111, MarkKind::kLoss, loss(2.5), "", 0)
                                 .Step(201)
                                 .At(202, MarkKind::kStepEnd, 32, "optimizer:SGD#1", 1)
                                 .Step(301)
                                 .At(302, MarkKind::kStepEnd, 32, "optimizer:SGD#1", 1)
                                 .At(303, MarkKind::kMeasureEnd, 2, "", 1)
                                 .At(401, MarkKind::kMeasureEnd, 2, "", 0)
                                 .At(402, MarkKind::kStepEnd, 32, "optimizer:SGD#1", 1)
                                 .Facts();
  EXPECT_THAT(facts.losses, ElementsAre(2.5));
  EXPECT_EQ(facts.steps, 2);
  EXPECT_DOUBLE_EQ(facts.ms_per_step, 150);
}

TEST(LaunchFacts, SaysWhenItsStepsSettled) {
  TraceOfMarks marks;
  std::int64_t now = 0;
  for (int step = 0; step < 60; ++step) {
    if (step == 10) marks.At(now, MarkKind::kMeasureBegin);
    if (step == 40) marks.At(now + 1, MarkKind::kEpochEnd);  // a boundary does not mean that steps have not settled
    now += (step < 13 ? 200 : 100) + (step == 40 ? 5000 : 0);
    marks.Step(now);
  }
  const LaunchResult facts = marks.At(now, MarkKind::kMeasureEnd, 50).Facts();
  EXPECT_GE(facts.settled_after, 12);
  EXPECT_LE(facts.settled_after, 20);
}

TEST(LaunchFacts, UnknownSamplesGiveNoTimePerSample) {
  EXPECT_EQ(TraceOfMarks()
                .At(0, MarkKind::kMeasureBegin)
                .Step(10)
                .Step(20, 0)
                .At(20, MarkKind::kMeasureEnd)
                .Facts()
                .ms_per_sample,
            0);
}

TEST(LaunchFacts, AWindowThatNeverOpenedOrClosed) {
  EXPECT_EQ(LaunchFacts(Trace{}).status.end, LaunchEnd::kNoSteps);
  EXPECT_THAT(LaunchFacts(Trace{}).tail, HasSubstr("without a training step"));
  const LaunchResult open = TraceOfMarks().Step(10).At(10, MarkKind::kMeasureBegin).Step(20).Facts();
  EXPECT_EQ(open.status.end, LaunchEnd::kNoSteps);
  EXPECT_THAT(open.tail, HasSubstr("ended after 2 steps"));
  EXPECT_EQ(TraceOfMarks().At(10, MarkKind::kMeasureBegin).At(20, MarkKind::kMeasureEnd).Facts().status.end,
            LaunchEnd::kNoSteps);
  const LaunchResult off = TraceOfMarks().At(0, MarkKind::kProbeOff, 0, "no torch::optim in this process").Facts();
  EXPECT_EQ(off.tail, "no torch::optim in this process");
}

TEST(LaunchFacts, LossesHashesMetricsMemoryAndTreatments) {
  TraceOfMarks marks;
  marks.At(0, MarkKind::kMeasureBegin)
      .At(1, MarkKind::kLoss, std::bit_cast<std::uint64_t>(2.5))
      .At(1, MarkKind::kSampleHash, 77)
      .At(2, MarkKind::kLoss, std::bit_cast<std::uint64_t>(-0.0))
      .At(2, MarkKind::kMetric, std::bit_cast<std::uint64_t>(0.5), "accuracy")
      .At(3, MarkKind::kMetric, std::bit_cast<std::uint64_t>(0.9), "accuracy")
      .Step(10)
      .At(10, MarkKind::kMeasureEnd, 1)
      .At(11, MarkKind::kPeakBytes, 1000, "host")
      .At(11, MarkKind::kPeakBytes, 3000, "host");
  marks.trace().applied.push_back({"amp", "forward", "off", "bf16", 0});
  const LaunchResult facts = marks.Facts();
  EXPECT_THAT(facts.losses, ElementsAre(2.5, -0.0));
  EXPECT_THAT(facts.sample_hashes, ElementsAre(77));
  EXPECT_THAT(facts.metrics, ElementsAre(testing::Pair("accuracy", 0.9)));
  EXPECT_EQ(facts.peak_bytes, 3000);
  ASSERT_EQ(facts.applied.size(), 1u);
  EXPECT_EQ(marks.At(12, MarkKind::kPeakBytes, 500, "cuda:0").Facts().peak_bytes, 500);
}

TEST(LaunchStatus, IsReadBackAsItWasWritten) {
  for (const auto& [text, end] : {std::pair{"ok", LaunchEnd::kOk},
                                  {"exit 1", LaunchEnd::kExit},
                                  {"exit code of nobody", LaunchEnd::kOther},
                                  {"signal 9", LaunchEnd::kSignal},
                                  {"no steps", LaunchEnd::kNoSteps},
                                  {"no steps at all", LaunchEnd::kOther},
                                  {"timeout", LaunchEnd::kTimeout},
                                  {"interrupted", LaunchEnd::kInterrupted},
                                  {"took no turns", LaunchEnd::kTookNoTurns},
                                  {"not comparable: its samples per step are unknown", LaunchEnd::kNotComparable},
                                  {"train: there is no such program", LaunchEnd::kOther}}) {
    const LaunchStatus status = LaunchStatus::Of(text);
    EXPECT_EQ(status.end, end) << text;
    EXPECT_EQ(status.Text(), text);
  }
}

}  // namespace
}  // namespace loopscope
