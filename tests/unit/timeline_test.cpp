#include "profiler/core/timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "profiler/core/timeline/communication.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kMs = 1'000'000;

// Builds a program's trace: each call advances a clock.
class Program {
 public:
  Program() { trace.threads.resize(1); }

  StringId Name(std::string_view text) {
    const auto found = std::ranges::find(trace.strings, text);
    if (found != trace.strings.end()) return static_cast<StringId>(found - trace.strings.begin());
    trace.strings.emplace_back(text);
    return static_cast<StringId>(trace.strings.size() - 1);
  }

  std::uint32_t Op(std::string_view name, std::int64_t ns, int flags = 0, std::uint32_t sequence = kNone) {
    Event event;
    event.name = Name(name);
    event.flags = static_cast<std::uint16_t>(flags);
    event.sequence = sequence;
    return Add(event, ns);
  }

  std::uint32_t Range(RangeCategory category, std::int64_t ns, std::string_view name = "range") {
    Event event;
    event.kind = EventKind::kRange;
    event.sub = static_cast<std::uint8_t>(category);
    event.name = Name(name);
    return Add(event, ns);
  }

  // What `body` does happens inside.
  template <class Body>
  std::uint32_t In(std::uint32_t outer, Body body) {
    std::vector<Event>& events = trace.threads[thread].events;
    now = events[outer].start_ns;
    body();
    events[outer].end_ns = std::max(events[outer].end_ns, now);
    now = events[outer].end_ns;
    return outer;
  }

  void Mark(MarkKind kind, std::string_view name = "", std::uint64_t value = 0) {
    trace.marks.push_back({now, kind, Name(name), value, thread});
  }

  void Forward(std::int64_t ns) { Op("aten::conv2d", ns, wire::kOpGraph | wire::kOpGradMode); }
  void Backward(std::int64_t ns) { Range(RangeCategory::kBackward, ns); }
  void Optimizer(std::int64_t ns) {
    Range(RangeCategory::kOptimizer, ns, "SGD");
    Mark(MarkKind::kStepEnd, "optimizer:SGD#1", 32);
  }

  // 1 ms drawing, 4 loading, 10 forward, 20 backward, 5 optimizer, 2 other.
  void Step() {
    Range(RangeCategory::kLoader, 1 * kMs, "RandomSampler");
    now += 4 * kMs;
    Forward(10 * kMs);
    Backward(20 * kMs);
    Range(RangeCategory::kZeroGrad, 1 * kMs);
    now += 2 * kMs;
    Optimizer(4 * kMs);
  }

  Trace trace;
  std::int64_t now = 1000 * kMs;
  std::uint32_t thread = 0;

 private:
  std::uint32_t Add(Event event, std::int64_t ns) {
    event.start_ns = now;
    now += ns;
    event.end_ns = now;
    trace.threads[thread].events.push_back(event);
    return static_cast<std::uint32_t>(trace.threads[thread].events.size() - 1);
  }
};

void ExpectPartition(const Timeline& timeline) {
  for (const Step& step : timeline.steps()) {
    EXPECT_EQ(std::accumulate(step.parts_ns.begin(), step.parts_ns.end(), std::int64_t{0}), step.time.length());
    for (const std::int64_t part : step.parts_ns) EXPECT_GE(part, 0);
  }
}

// Each parameter has an optimizer of its own, which a hook of the backward pass steps as soon as there is a gradient.
TEST(Timeline, UpdatesInHooksOfTheBackwardPassAreTheOptimizers) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    program.Forward(10 * kMs);
    program.In(program.Range(RangeCategory::kBackward, 0), [&] {
      program.In(program.Op("autograd::engine::evaluate_function: MmBackward0", 0), [&] {
        program.Op("aten::mm", 4 * kMs);
        program.Optimizer(3 * kMs);
        program.Range(RangeCategory::kZeroGrad, 1 * kMs);
      });
      program.Op("aten::mm", 5 * kMs);
      program.Range(RangeCategory::kOptimizer, 2 * kMs, "SGD");
    });
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  ExpectPartition(timeline);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kOptimizer), 6);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kBackward), 9);
}

// gloo's send and receive run from their call to the wait for them, on the thread that trains: where that computes
// meanwhile, it does not wait.
TEST(Timeline, WaitingForAnExchangeIsCommunication) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    const std::uint32_t receives = program.Op("gloo:recv", 9 * kMs, wire::kOpAsync);
    program.now = program.trace.threads[0].events[receives].start_ns;
    program.Forward(3 * kMs);
    program.now += 6 * kMs;
    program.Backward(5 * kMs);
    program.Optimizer(1 * kMs);
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  ExpectPartition(timeline);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kCommunication), 6);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kForward), 3);
  EXPECT_EQ(OnlyCommunicating(timeline).total_ns(), 20 * 6 * kMs);
}

// A device's gradients are taken by a thread of the engine: its hooks step there.
TEST(Timeline, UpdatesOnTheEnginesThreadAreTheOptimizers) {
  Program program;
  program.trace.threads.resize(2);
  for (int i = 0; i < 20; ++i) {
    program.Forward(10 * kMs);
    const std::int64_t begin = program.now;
    program.Backward(15 * kMs);
    program.Range(RangeCategory::kZeroGrad, 1 * kMs);
    program.Mark(MarkKind::kStepEnd, "optimizer:SGD#1", 32);
    const std::int64_t end = program.now;
    program.thread = 1;
    program.now = begin;
    program.Op("autograd::engine::evaluate_function: MmBackward0", 9 * kMs);
    program.Range(RangeCategory::kOptimizer, 4 * kMs, "SGD");
    program.thread = 0;
    program.now = end;
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  ExpectPartition(timeline);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kOptimizer), 5);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kBackward), 11);
}

TEST(Timeline, DividesAPlainStep) {
  Program program;
  for (int i = 0; i < 20; ++i) program.Step();
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  ExpectPartition(timeline);
  EXPECT_EQ(timeline.why_no_steps(), "");
  EXPECT_EQ(timeline.clock(), "optimizer:SGD#1");
  ASSERT_EQ(timeline.steps().size(), 20u);
  EXPECT_EQ(timeline.steps()[7].samples, 32u);
  EXPECT_EQ(timeline.steady().size(), 16u) << "a fifth is warm-up";
  EXPECT_DOUBLE_EQ(timeline.mean_step_ms(), 42);
  EXPECT_TRUE(timeline.loader_known());
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kLoaderWait), 5) << "from the draw to the model's first op";
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kForward), 10);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kBackward), 20);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kOptimizer), 5);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kOther), 2);
  EXPECT_EQ(timeline.per_epoch_ms(), -1);
  EXPECT_EQ(timeline.step_at(timeline.steps()[5].time.start_ns), 5);
  EXPECT_EQ(timeline.step_at(timeline.steps()[5].time.end_ns), 6);
  EXPECT_EQ(timeline.step_at(timeline.steps()[0].time.start_ns - 1), -1);
  EXPECT_EQ(timeline.step_at(timeline.steps()[19].time.end_ns), -1);
}

TEST(Timeline, WorkersThatKeepUpCostNothing) {
  Program program;
  program.Mark(MarkKind::kEpochStart);
  for (int i = 0; i < 4; ++i) program.Range(RangeCategory::kLoader, 5'000, "RandomSampler");  // prefetching
  for (int i = 0; i < 20; ++i) {
    program.Range(RangeCategory::kLoader, 5'000, "RandomSampler");
    program.now += 3 * kMs;  // the program's own work on the batch
    program.Forward(10 * kMs);
    program.Backward(20 * kMs);
    program.Optimizer(4 * kMs);
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  ExpectPartition(timeline);
  EXPECT_NEAR(timeline.part_ms(Part::kLoaderWait), 0.005, 1e-9);
  EXPECT_NEAR(timeline.part_ms(Part::kOther), 3, 1e-9);
}

TEST(Timeline, WorkersThatLagAreWaitedFor) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    program.Range(RangeCategory::kWait, 6 * kMs);  // LibTorch waits first and draws then
    program.Range(RangeCategory::kLoader, 5'000, "RandomSampler");
    program.Range(RangeCategory::kWait, 10'000);  // a lock, not a wait for data
    program.now += 1 * kMs;
    program.Forward(10 * kMs);
    program.Range(RangeCategory::kWait, 2 * kMs);  // in mid-step: not the loader's
    program.Backward(20 * kMs);
    program.Optimizer(4 * kMs);
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  ExpectPartition(timeline);
  EXPECT_NEAR(timeline.part_ms(Part::kLoaderWait), 6.005, 1e-9);
  EXPECT_NEAR(timeline.part_ms(Part::kForward), 12, 1e-9);
}

TEST(Timeline, AWaitForOtherRanksIsNotForData) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    program.Range(RangeCategory::kLoader, 5'000, "RandomSampler");
    program.Forward(10 * kMs);
    program.Backward(20 * kMs);
    program.Optimizer(4 * kMs);
    program.Op("c10d::allreduce_", 30'000);
    program.Range(RangeCategory::kWait, 6 * kMs);  // the next draw follows, as after a wait for workers
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  ExpectPartition(timeline);
  EXPECT_NEAR(timeline.part_ms(Part::kLoaderWait), 0.005, 1e-9);
  EXPECT_NEAR(timeline.part_ms(Part::kCommunication), 6, 1e-9);
}

TEST(Timeline, AWaitAfterTheDrawEndsIt) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    program.Range(RangeCategory::kLoader, 5'000, "RandomSampler");
    program.now += 5'000;
    program.Range(RangeCategory::kWait, 6 * kMs);
    program.now += 1 * kMs;
    program.Forward(10 * kMs);
    program.Backward(20 * kMs);
    program.Optimizer(4 * kMs);
  }
  EXPECT_NEAR(Timeline::Build(program.trace).part_ms(Part::kLoaderWait), 6.01, 1e-9);
}

TEST(Timeline, WhatTheProgramSaysOfItsWorkersHolds) {
  Program program;
  for (int i = 0; i < 20; ++i) program.Step();
  program.trace.facts["loader.workers"] = "2";
  EXPECT_DOUBLE_EQ(Timeline::Build(program.trace).part_ms(Part::kLoaderWait), 1);
  program.trace.facts["loader.workers"] = "0";
  EXPECT_DOUBLE_EQ(Timeline::Build(program.trace).part_ms(Part::kLoaderWait), 5);
}

TEST(Timeline, PythonsLoaderRangeIsTheWait) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    program.Range(RangeCategory::kLoader, 7 * kMs, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    program.now += 2 * kMs;
    program.Forward(10 * kMs);
    program.Backward(20 * kMs);
    program.Optimizer(4 * kMs);
  }
  EXPECT_DOUBLE_EQ(Timeline::Build(program.trace).part_ms(Part::kLoaderWait), 7);
}

TEST(Timeline, AFrozenBackboneIsForward) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    program.Range(RangeCategory::kLoader, 1 * kMs, "RandomSampler");
    program.Op("aten::conv2d", 8 * kMs);
    program.Forward(2 * kMs);
    program.Backward(3 * kMs);
    program.Optimizer(1 * kMs);
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kLoaderWait), 1);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kForward), 10);
  EXPECT_FALSE(timeline.evaluation_seen());
}

TEST(Timeline, AccumulationIsOneStep) {
  Program program;
  for (int i = 0; i < 10; ++i) {
    for (int micro = 0; micro < 3; ++micro) {
      program.Range(RangeCategory::kLoader, 1 * kMs, "RandomSampler");
      program.Forward(2 * kMs);
      program.Backward(3 * kMs);
    }
    program.Optimizer(1 * kMs);
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  ExpectPartition(timeline);
  EXPECT_EQ(timeline.steps().size(), 10u);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kLoaderWait), 3);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kForward), 6);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kBackward), 9);
  EXPECT_FALSE(timeline.evaluation_seen());
}

// Four epochs of five steps, each but the last followed by an evaluation of two batches.
Program WithEpochs(bool marks) {
  Program program;
  for (int epoch = 0; epoch < 4; ++epoch) {
    if (marks) program.Mark(MarkKind::kEpochStart);
    for (int i = 0; i < 5; ++i) program.Step();
    program.Range(RangeCategory::kLoader, 1'000, "RandomSampler");  // exhausted
    if (marks) program.Mark(MarkKind::kEpochEnd);
    for (int i = 0; i < 2 && epoch < 3; ++i) {
      program.Range(RangeCategory::kLoader, 1 * kMs, "SequentialSampler");
      program.now += 2 * kMs;
      program.Op("aten::conv2d", 5 * kMs);
    }
    program.now += 4 * kMs;  // a checkpoint
  }
  return program;
}

TEST(Timeline, EpochBoundariesAreNotSteady) {
  Program program = WithEpochs(true);
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  ExpectPartition(timeline);
  ASSERT_EQ(timeline.steps().size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(timeline.steps()[i].boundary, i > 0 && i % 5 == 0) << i;
  EXPECT_EQ(timeline.steady().size(), 13u) << "four in warm-up, three boundaries";
  EXPECT_TRUE(timeline.evaluation_seen());
  EXPECT_EQ(timeline.evaluation().total_ns(), 3 * 16 * kMs);
  EXPECT_EQ(timeline.steps_per_epoch(), 5u);
  EXPECT_NEAR(timeline.per_epoch_ms(), 16 + 4 + 0.001, 1e-9);
  EXPECT_DOUBLE_EQ(timeline.mean_step_ms(), 42);
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kLoaderWait), 5) << "an exhausted draw is no sign of workers";
}

// A final scoring on much data follows the last epoch's evaluation without a step in between.
TEST(Timeline, AScoringAfterTheTrainingIsNoEvaluationOfIt) {
  Program program = WithEpochs(true);
  for (int i = 0; i < 100; ++i) {
    program.Range(RangeCategory::kLoader, 1 * kMs, "SequentialSampler");
    program.Op("aten::conv2d", 5 * kMs);
  }
  program.Mark(MarkKind::kEpochStart);
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  EXPECT_EQ(timeline.evaluation().total_ns(), 3 * 16 * kMs + 100 * 6 * kMs);
  EXPECT_EQ(timeline.whole().evaluations.size(), 3u);
  EXPECT_EQ(timeline.whole().evaluation_ns, 3 * 16 * kMs);
  EXPECT_TRUE(timeline.whole().evaluated_after);
  EXPECT_DOUBLE_EQ(timeline.whole().steps_between_evaluations, 5);
}

TEST(Timeline, EvaluationIsSeenWithoutMarks) {
  Program program = WithEpochs(false);
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  EXPECT_TRUE(timeline.evaluation_seen());
  EXPECT_TRUE(timeline.steps()[10].evaluates);
  EXPECT_FALSE(timeline.steps()[10].boundary) << "nothing shows that an epoch ended";
  EXPECT_FALSE(timeline.steps()[11].evaluates);
  EXPECT_EQ(timeline.steps_per_epoch(), 0u);
}

// A sampler that workers run ahead of is exhausted before its last batches were trained on.
TEST(Timeline, AnEpochEndsWhenItsLastBatchIsDone) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    if (i % 10 == 0) program.Mark(MarkKind::kEpochStart);
    if (i % 10 >= 7) program.Mark(MarkKind::kEpochEnd);
    program.Step();
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(timeline.steps()[i].boundary, i == 10) << i;
  EXPECT_EQ(timeline.steps_per_epoch(), 10u);
}

TEST(Timeline, TwoBatchesInEachStepAreNoEvaluation) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    for (int half = 0; half < 2; ++half) {
      program.Range(RangeCategory::kLoader, 1 * kMs, half ? "Unlabelled" : "Labelled");
      program.Forward(5 * kMs);
    }
    program.Backward(9 * kMs);
    program.Optimizer(1 * kMs);
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  EXPECT_FALSE(timeline.evaluation_seen());
  EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kForward), 10);
  EXPECT_EQ(timeline.steady().size(), 16u);
}

// A batch of the training data that is passed over (its triplets are too easy) is part of the step.
TEST(Timeline, BatchesThatAreNotTrainedOnAreNoEvaluation) {
  Program program;
  for (int i = 0; i < 50; ++i) {
    if (i % 20 == 0) program.Mark(MarkKind::kEpochStart);
    program.Step();
    if (i % 4 == 3) {
      program.Range(RangeCategory::kLoader, 1 * kMs, "RandomSampler");
      program.Forward(5 * kMs);
    }
    if (i % 20 == 19) program.Mark(MarkKind::kEpochEnd);
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  EXPECT_FALSE(timeline.evaluation_seen());
  ASSERT_EQ(timeline.steps().size(), 50u);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(timeline.steps()[i].boundary, i > 0 && i % 20 == 0) << i;
  EXPECT_EQ(timeline.steady().size(), 38u) << "ten in warm-up, two boundaries";
}

TEST(Timeline, AForwardThatWasCutOffIsNoEvaluation) {
  Program program;
  for (int i = 0; i < 10; ++i) program.Step();
  program.Range(RangeCategory::kLoader, 1 * kMs, "RandomSampler");
  program.Forward(10 * kMs);
  EXPECT_FALSE(Timeline::Build(std::move(program.trace)).evaluation_seen());
}

TEST(Timeline, TheWindowIsTheMarks) {
  Program program;
  for (int i = 0; i < 30; ++i) {
    if (i == 2) program.Mark(MarkKind::kDetailBegin);
    if (i == 5) program.Mark(MarkKind::kMeasureBegin);
    if (i == 8) program.Mark(MarkKind::kDetailEnd);
    if (i == 15) program.Mark(MarkKind::kMeasureEnd);
    if (i == 20) program.Mark(MarkKind::kEpochStart);
    program.Step();
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  EXPECT_EQ(timeline.steady().size(), 10u);
  EXPECT_EQ(timeline.detail_steps(), 3);
  ASSERT_EQ(timeline.steps().size(), 16u) << "behind the window only the boundary stays";
  EXPECT_TRUE(timeline.steps().back().boundary);
  EXPECT_TRUE(timeline.steps()[4].warmup);
  EXPECT_FALSE(timeline.steps()[5].warmup);
  EXPECT_EQ(timeline.step_at(timeline.steps()[14].time.end_ns + 1), -1);
}

TEST(Timeline, RulesDoNotLookAtStepsWithoutOperators) {
  Program program;
  for (int i = 0; i < 30; ++i) {
    if (i == 5) program.Mark(MarkKind::kMeasureBegin);
    if (i == 10 || i == 21) program.Mark(MarkKind::kOpsEnd);
    if (i == 20 || i == 29) program.Mark(MarkKind::kOpsBegin);
    program.Step();
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  EXPECT_EQ(timeline.steps().size(), 30u);
  EXPECT_EQ(timeline.timed().size(), 25u);
  EXPECT_THAT(timeline.steady(), ElementsAre(5, 6, 7, 8, 9, 20, 29));
  EXPECT_FALSE(timeline.steps()[10].operators);
  EXPECT_TRUE(timeline.steps()[20].operators);
}

TEST(Timeline, TooFewStepsSayWhy) {
  Program program;
  EXPECT_THAT(Timeline::Build(Trace{}).why_no_steps(), HasSubstr("no training step"));
  program.Step();
  program.Step();
  const Timeline two = Timeline::Build(program.trace);
  EXPECT_THAT(two.steps(), IsEmpty());
  EXPECT_THAT(two.why_no_steps(), HasSubstr("only 2 steps"));
  EXPECT_EQ(two.part_ms(Part::kForward), 0);
  for (int i = 0; i < 4; ++i) program.Step();
  program.Mark(MarkKind::kMeasureBegin);
  const Timeline warm = Timeline::Build(program.trace);
  EXPECT_EQ(warm.steps().size(), 6u);
  EXPECT_THAT(warm.steady(), IsEmpty());
  EXPECT_THAT(warm.why_no_steps(), HasSubstr("warm-up"));
}

TEST(Timeline, BurstsOfBackwardAreTheClockWithoutMarks) {
  Program program;
  for (int i = 0; i < 8; ++i) {
    program.Forward(2 * kMs);
    for (int node = 0; node < 3; ++node) {
      program.Op("autograd::engine::evaluate_function: ConvolutionBackward0", 1 * kMs);
      program.now += 100'000;
    }
    program.now += 1 * kMs;
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  ExpectPartition(timeline);
  EXPECT_EQ(timeline.clock(), "backward");
  EXPECT_EQ(timeline.steps().size(), 8u);
  EXPECT_FALSE(timeline.loader_known());
  EXPECT_NEAR(timeline.part_ms(Part::kBackward), 3.2, 1e-9);
}

TEST(Timeline, TheTrainingThreadIsTheOneWithTheSteps) {
  Program program;
  program.trace.threads.resize(3);
  for (int i = 0; i < 10; ++i) {
    program.thread = 2;
    program.Range(RangeCategory::kUser, 1 * kMs, "decode");
    program.Op("aten::copy_", 1 * kMs);
    program.thread = 1;
    program.Step();
    program.thread = 0;  // the engine's
    program.now -= 20 * kMs;
    program.Op("autograd::engine::evaluate_function: MmBackward0", 1 * kMs);
    program.now += 19 * kMs;
  }
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  EXPECT_EQ(timeline.training_thread(), 1u);
  int training = 0, engine = 0, other = 0;
  timeline.ForEachSteady([&](EventRef ref) {
    training += ref.thread == 1;
    engine += ref.thread == 0;
    other += ref.thread == 2;
    EXPECT_GE(timeline.step_at(timeline.event(ref).start_ns), 0);
  });
  EXPECT_EQ(training, 8 * 5);
  EXPECT_EQ(engine, 8);
  EXPECT_EQ(other, 0);
}

TEST(Timeline, HostReadsWaitOnlyWhereThereIsADevice) {
  for (const bool device : {false, true}) {
    Program program;
    for (int i = 0; i < 10; ++i) {
      if (device) program.Range(RangeCategory::kCopyToDevice, 1 * kMs);
      program.Step();
      program.In(program.Op("aten::item", 3 * kMs), [&] { program.Op("aten::_local_scalar_dense", 1 * kMs); });
    }
    const Timeline timeline = Timeline::Build(std::move(program.trace));
    ExpectPartition(timeline);
    EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kSyncWait), device ? 3 : 0);
    EXPECT_DOUBLE_EQ(timeline.part_ms(Part::kCopyToDevice), device ? 1 : 0);
  }
}

TEST(Timeline, ParentsSelfTimeAndProducers) {
  Program program;
  std::uint32_t linear = 0, addmm = 0, transpose = 0, backward = 0, zero = 0;
  for (int i = 0; i < 4; ++i) {
    linear = program.Op("aten::linear", 10 * kMs, wire::kOpGraph, 5);
    program.In(linear, [&] {
      transpose = program.Op("aten::t", 1 * kMs, wire::kOpGraph, 5);
      addmm = program.Op("aten::addmm", 6 * kMs, wire::kOpGraph, 6);
    });
    backward = program.In(program.Range(RangeCategory::kBackward, 4 * kMs),
                          [&] { zero = program.Op("aten::zero_", 1 * kMs); });
    program.Optimizer(kMs);
  }
  program.trace.stacks = {{}, {{{"/home/ann/net.cpp", 12, "Net::forward"}}}};
  program.trace.details = {{program.Name("f32[2,2]"), 0, kNone}, {0, 1, kNone}};
  program.trace.threads[0].events[addmm].detail = 0;
  program.trace.threads[0].events[linear].detail = 1;
  program.trace.range_stacks[backward] = 1;
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  EXPECT_EQ(timeline.parent({0, addmm}), linear);
  EXPECT_EQ(timeline.parent({0, linear}), kNone);
  EXPECT_EQ(timeline.self_ns({0, linear}), 3 * kMs);
  EXPECT_EQ(timeline.self_ns({0, addmm}), 6 * kMs);
  EXPECT_TRUE(timeline.outermost_op({0, linear}));
  EXPECT_FALSE(timeline.outermost_op({0, addmm}));
  EXPECT_TRUE(timeline.outermost_op({0, zero})) << "a range above it does not count";
  EXPECT_FALSE(timeline.outermost_op({0, backward}));
  EXPECT_TRUE(timeline.inside({0, zero}, RangeCategory::kBackward));
  EXPECT_FALSE(timeline.inside({0, addmm}, RangeCategory::kBackward));
  EXPECT_EQ(timeline.producer(5).index, transpose) << "the deepest that made the node";
  EXPECT_EQ(timeline.producer(6).index, addmm);
  EXPECT_EQ(timeline.producer(7).index, kNone);
  EXPECT_EQ(timeline.producer(kNone).index, kNone);
  EXPECT_EQ(timeline.inputs({0, addmm}), "f32[2,2]");
  EXPECT_EQ(timeline.inputs({0, zero}), "");
  ASSERT_NE(timeline.where({0, addmm}), nullptr) << "its own stack is empty: its parent's counts";
  EXPECT_EQ(timeline.where({0, addmm})->line, 12);
  EXPECT_NE(timeline.where({0, zero}), nullptr) << "the range's stack";
}

// The middle of a long run was not kept: it is not one long step, and no epoch or evaluation spans
// it.
TEST(Timeline, StepsOnBothSidesOfSkippedTimeAreWhole) {
  Program program;
  const auto epoch = [&](int steps) {
    program.Mark(MarkKind::kEpochStart);
    for (int i = 0; i < steps; ++i) program.Step();
    program.Range(RangeCategory::kEvaluation, 8 * kMs, "evaluate");
  };
  for (int i = 0; i < 3; ++i) epoch(10);
  program.Step();
  const std::int64_t from = program.now;
  program.now += 5000 * kMs;
  program.Mark(MarkKind::kStepEnd, "optimizer:SGD#1", 32);  // the last that was skipped
  program.trace.quality.skipped = {{from, program.now}, 120};
  for (int i = 0; i < 4; ++i) program.Step();
  for (int i = 0; i < 3; ++i) epoch(10);
  for (int i = 0; i < 2; ++i) program.Step();
  const Timeline timeline = Timeline::Build(std::move(program.trace));
  ExpectPartition(timeline);
  ASSERT_EQ(timeline.steps().size(), 67u);
  for (const Step& step : timeline.steps()) EXPECT_LE(step.time.length(), 50 * kMs);
  EXPECT_EQ(timeline.steps()[30].time.end_ns, from);
  EXPECT_EQ(timeline.steps()[31].time.start_ns, timeline.trace().quality.skipped.time.end_ns);
  EXPECT_DOUBLE_EQ(timeline.mean_step_ms(), 42);
  EXPECT_EQ(timeline.steps_per_epoch(), 10u);
  EXPECT_DOUBLE_EQ(timeline.whole().steps_between_evaluations, 10);
  EXPECT_NEAR(static_cast<double>(timeline.whole().total_ns()), 67 * 42e6 + 6 * 8e6, 1e6);
}

// Whatever events there are, the parts add up and parents enclose their children.
TEST(Timeline, HoldsOnRandomPrograms) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    Program program;
    std::vector<Event> events(random() % 200);
    for (Event& event : events) {
      event.start_ns = static_cast<std::int64_t>(random() % 1000);
      event.end_ns = event.start_ns + static_cast<std::int64_t>(random() % 100);
      event.kind = random() % 2 ? EventKind::kOp : EventKind::kRange;
      event.sub = event.kind == EventKind::kRange ? random() % 11 : 0;
      event.flags = random() % 1024;
      event.sequence = random() % 50;
      event.name = program.Name(random() % 2 ? "aten::conv2d" : "autograd::engine::evaluate_function: X");
    }
    std::ranges::sort(events, [](const Event& a, const Event& b) {
      return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
    });
    program.trace.threads[0].events = events;
    for (program.now = 0; program.now < 1000; program.now += 1 + random() % 150) {
      program.Mark(MarkKind::kStepEnd);
      program.Mark(static_cast<MarkKind>(1 + random() % 17));
    }
    const Timeline timeline = Timeline::Build(std::move(program.trace));
    ExpectPartition(timeline);
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      EXPECT_GE(timeline.self_ns({0, i}), 0);
      const std::uint32_t parent = timeline.parent({0, i});
      if (parent == kNone) continue;
      EXPECT_LE(events[parent].start_ns, events[i].start_ns);
      EXPECT_GE(events[parent].end_ns, events[i].end_ns);
    }
    int seen = 0;
    timeline.ForEach(0, {100, 300}, [&](EventRef) { ++seen; });
    EXPECT_EQ(seen, std::count_if(events.begin(), events.end(),
                                  [](const Event& e) { return e.start_ns >= 100 && e.start_ns < 300; }));
  }
}

}  // namespace
}  // namespace loopscope
