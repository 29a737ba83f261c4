#include "profiler/core/steps/step_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kMs = 1'000'000;

// A recording of marks alone: a clock that each step moves on.
class Recording {
 public:
  Recording() { trace.threads.resize(1); }

  Recording& Mark(MarkKind kind, std::uint64_t value = 0, std::uint32_t thread = 0) {
    trace.marks.push_back({now_ms * kMs, kind, 0, value, thread});
    return *this;
  }
  Recording& Steps(int count, std::int64_t ms = 10) {
    for (int i = 0; i < count; ++i) {
      now_ms += ms;
      Mark(MarkKind::kStepEnd, 32);
    }
    return *this;
  }
  StepTable Table() const {
    const StepLedger ledger(trace);
    return {trace, ledger, ledger.ends(), 0};
  }

  Trace trace;
  std::int64_t now_ms = 0;
};

StepTable Chosen(const Recording& recording) {
  StepTable table = recording.Table();
  table.Choose();
  return table;
}

std::vector<std::string_view> KindsOf(const StepTable& table) {
  std::vector<std::string_view> kinds;
  for (const Step& step : table.all()) kinds.push_back(KindName(step.kind()));
  return kinds;
}

TEST(StepTable, SaysWhichKindEachStepIs) {
  Recording recording;
  recording.Steps(2).Mark(MarkKind::kMeasureBegin).Steps(1);
  recording.now_ms += 5;
  recording.Mark(MarkKind::kEpochStart).Steps(1).Steps(2);
  StepTable table = recording.Table();
  table.MarkEvaluations(IntervalSet({{46 * kMs, 47 * kMs}}));
  EXPECT_THAT(KindsOf(table), ElementsAre("warm-up", "warm-up", "usual", "epoch boundary", "evaluation", "usual"));
  EXPECT_EQ(table.clock(), "");
}

TEST(StepTable, AStepOfSeveralKindsIsTheFirstOfThem) {
  Step step;
  EXPECT_EQ(step.kind(), StepKind::kUsual);
  step.transient = true;
  EXPECT_EQ(step.kind(), StepKind::kTransient);
  step.evaluates = true;
  EXPECT_EQ(step.kind(), StepKind::kEvaluation);
  step.boundary = true;
  EXPECT_EQ(step.kind(), StepKind::kBoundary);
  step.warmup = true;
  EXPECT_EQ(step.kind(), StepKind::kWarmUp);
}

TEST(StepTable, AMeanIsOfStepsThatNothingSlowedDown) {
  Recording recording;
  recording.Mark(MarkKind::kMeasureBegin).Mark(MarkKind::kDetailBegin).Steps(5, 19).Mark(MarkKind::kDetailEnd);
  recording.Steps(20, 14);
  const StepTable table = Chosen(recording);
  EXPECT_EQ(table.steady().size(), 25u);
  EXPECT_EQ(table.detail_steps(), 5);
  EXPECT_EQ(table.undisturbed().size(), 20u);
  EXPECT_DOUBLE_EQ(table.mean_ms(), 14);
}

// One long step was recorded, one was not.
TEST(StepTable, RecordedStepsRepresentTheOthersOfTheirLength) {
  Recording recording;
  recording.Mark(MarkKind::kMeasureBegin);
  for (int i = 0; i < 10; ++i) {
    recording.Steps(1, i == 4 ? 50 : 10).Mark(MarkKind::kOpsEnd).Steps(1, i == 6 ? 50 : 10).Mark(MarkKind::kOpsBegin);
  }
  const StepTable table = Chosen(recording);
  ASSERT_EQ(table.parted().size(), 10u);
  double usual_ms = 0, long_ms = 0;
  for (const PartedStep& one : table.parted()) {
    const double ms = one.weight * static_cast<double>(table.all()[one.index].time.length()) / kMs;
    (table.all()[one.index].time.length() > 20 * kMs ? long_ms : usual_ms) += ms;
  }
  EXPECT_DOUBLE_EQ(usual_ms, 180);
  EXPECT_DOUBLE_EQ(long_ms, 100);
}

TEST(StepTable, TheFirstStepsOfAWindowMayNotHaveSettled) {
  Recording recording;
  recording.Mark(MarkKind::kMeasureBegin).Steps(3, 40).Steps(20, 10);
  const StepTable table = Chosen(recording);
  EXPECT_EQ(table.all()[2].kind(), StepKind::kTransient);
  EXPECT_EQ(table.all()[3].kind(), StepKind::kUsual);
  EXPECT_DOUBLE_EQ(table.mean_ms(), 10);
}

TEST(StepTable, AfterTheWindowOnlySpecialStepsStay) {
  Recording recording;
  recording.Mark(MarkKind::kMeasureBegin).Steps(8).Mark(MarkKind::kMeasureEnd).Steps(3).Mark(MarkKind::kEpochStart);
  recording.Steps(1, 30);
  const StepTable table = Chosen(recording);
  ASSERT_EQ(table.all().size(), 9u);
  EXPECT_EQ(table.all().back().kind(), StepKind::kBoundary);
  EXPECT_DOUBLE_EQ(table.per_epoch_ms(), 20);
}

TEST(StepTable, OfSeveralRanksTheFirstWithHalfTheStepsTrains) {
  Recording recording;
  recording.trace.threads.resize(3);
  for (std::uint32_t t = 0; t < 3; ++t) recording.trace.threads[t].pid = 100 + t;
  recording.Mark(MarkKind::kStepEnd, 0, 0);
  for (int i = 0; i < 3; ++i) recording.Mark(MarkKind::kStepEnd, 0, 1);
  for (int i = 0; i < 4; ++i) recording.Mark(MarkKind::kStepEnd, 0, 2);
  recording.Mark(MarkKind::kEpochStart, 0, 2);
  const StepLedger ledger(recording.trace);
  EXPECT_EQ(ledger.thread(), 1u);
  EXPECT_EQ(ledger.ends().size(), 3u);
  EXPECT_FALSE(ledger.IsOwn(2));
  EXPECT_THAT(ledger.epoch_starts(), IsEmpty()) << "another process' epoch";
  EXPECT_EQ(StepsOfAll(recording.trace), 8u);
}

TEST(StepTable, WithoutAnyStepAllIsEmpty) {
  const StepTable table = Chosen(Recording());
  EXPECT_THAT(table.all(), IsEmpty());
  EXPECT_THAT(table.undisturbed(), IsEmpty());
  EXPECT_EQ(table.mean_ms(), 0);
  EXPECT_EQ(table.per_epoch_ms(), -1);
  EXPECT_EQ(StepLedger(Trace{}).thread(), kNone);
}

}  // namespace
}  // namespace loopscope
