#include "probes/preload/step_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace loopscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = StepClock::Kind;

struct Emitted {
  std::string name;
  std::uint64_t time_ns, samples;
};

// A clock that collects what it emits; time and samples advance by 1 and 10 with each tick.
class Clock {
  auto Collect() {
    return [this](std::string_view name, std::uint64_t time_ns, std::uint64_t samples) {
      emitted_.push_back({std::string(name), time_ns, samples});
    };
  }

 public:
  explicit Clock(std::string_view wanted = "") { clock_.Want(wanted); }

  void Tick(Kind kind, const void* object = nullptr, std::string_view name = "", std::uint64_t parameters = 0,
            std::uint64_t samples = 0) {
    ++time_ns_;
    clock_.Tick(kind, object, name, parameters, time_ns_, time_ns_ * 10, samples, Collect());
  }
  void Settle() { clock_.Settle(Collect()); }
  void ExpectOptimizer() { clock_.ExpectOptimizer(); }
  void OptimizerZeroed() { clock_.OptimizerZeroed(); }
  void UpdatedOutOfSight() { clock_.UpdatedOutOfSight(); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Emitted& one : emitted_) names.push_back(one.name);
    return names;
  }
  const std::vector<Emitted>& emitted() const { return emitted_; }

 private:
  StepClock clock_;
  std::vector<Emitted> emitted_;
  std::uint64_t time_ns_ = 0;
};

const int first = 0, second = 0;

TEST(StepClock, OneOptimizerIsTheClockFromItsFirstStep) {
  Clock clock;
  for (int n = 0; n < 4; ++n) clock.Tick(Kind::kOptimizer, &first, "SGD", 100);
  EXPECT_THAT(clock.emitted(), IsEmpty());  // not settled yet
  for (int n = 0; n < 3; ++n) clock.Tick(Kind::kOptimizer, &first, "SGD", 100);
  ASSERT_EQ(clock.emitted().size(), 7u);
  EXPECT_EQ(clock.emitted()[0].name, "optimizer:SGD#1");
  EXPECT_EQ(clock.emitted()[0].time_ns, 1u);
  EXPECT_EQ(clock.emitted()[0].samples, 10u);
  EXPECT_EQ(clock.emitted()[6].time_ns, 7u);
  EXPECT_EQ(clock.emitted()[6].samples, 10u);
}

TEST(StepClock, OfTwoOptimizersTheOneWithMostParameters) {
  Clock clock;
  for (int n = 0; n < 6; ++n) {
    clock.Tick(Kind::kBackward);
    clock.Tick(Kind::kOptimizer, &first, "SGD", 10);
    clock.Tick(Kind::kOptimizer, &second, "AdamW", 1000);
  }
  EXPECT_THAT(clock.names(), ::testing::Each("optimizer:AdamW#2"));
  EXPECT_EQ(clock.emitted().size(), 6u);
}

TEST(StepClock, OfTwoEqualOptimizersTheOneThatSteppedFirst) {
  Clock clock;
  for (int n = 0; n < 6; ++n) {
    clock.Tick(Kind::kOptimizer, &first, "Adam", 10);
    clock.Tick(Kind::kOptimizer, &second, "Adam", 10);
  }
  EXPECT_THAT(clock.names(), ::testing::Each("optimizer:Adam#1"));
}

TEST(StepClock, ABiggerOptimizerThatComesLateWins) {
  Clock clock;  // five critic steps for one of the generator's
  for (int n = 0; n < 4; ++n) clock.Tick(Kind::kOptimizer, &first, "Adam", 10);
  clock.Tick(Kind::kOptimizer, &second, "Adam", 1000);
  for (int n = 0; n < 10; ++n)
    clock.Tick(Kind::kOptimizer, n % 5 == 4 ? &second : &first, "Adam", n % 5 == 4 ? 1000 : 10);
  clock.Settle();
  EXPECT_THAT(clock.names(), ElementsAre("optimizer:Adam#2", "optimizer:Adam#2", "optimizer:Adam#2"));
}

TEST(StepClock, MarksComeBeforeRangesBeforeOptimizers) {
  Clock ranges, marks;
  for (int n = 0; n < 6; ++n) {
    for (Clock* clock : {&ranges, &marks}) clock->Tick(Kind::kOptimizer, &first, "SGD", 100);
    for (Clock* clock : {&ranges, &marks}) clock->Tick(Kind::kRange);
    marks.Tick(Kind::kMark, nullptr, "", 0, 77);
  }
  EXPECT_THAT(ranges.names(), ::testing::Each("nvtx:step"));
  EXPECT_THAT(marks.names(), ::testing::Each("mark"));
  EXPECT_EQ(marks.emitted().at(0).samples, 77u);
}

TEST(StepClock, BackwardAloneIsTrustedAfterAWhile) {
  Clock clock;
  for (std::uint64_t n = 0; n + 1 < StepClock::kBackwardsToTrust; ++n) clock.Tick(Kind::kBackward);
  EXPECT_THAT(clock.names(), IsEmpty());
  clock.Tick(Kind::kBackward);
  EXPECT_EQ(clock.emitted().size(), StepClock::kBackwardsToTrust);
  EXPECT_THAT(clock.names(), ::testing::Each("backward"));
}

TEST(StepClock, GradientsAloneAreTrustedAfterAWhile) {
  Clock clock;
  for (std::uint64_t n = 0; n < StepClock::kBackwardsToTrust; ++n) clock.Tick(Kind::kGradient);
  EXPECT_EQ(clock.emitted().size(), StepClock::kBackwardsToTrust);
  EXPECT_THAT(clock.names(), ::testing::Each("gradient"));
}

TEST(StepClock, GradientsTakenBesideBackwardPassesAreNoClock) {
  Clock clock;
  for (std::uint64_t n = 0; n < 2 * StepClock::kBackwardsToTrust; ++n) {
    clock.Tick(n % 2 == 0 ? Kind::kGradient : Kind::kBackward);
  }
  EXPECT_THAT(clock.names(), ::testing::Each("backward"));
  EXPECT_EQ(clock.emitted().size(), StepClock::kBackwardsToTrust);
}

TEST(StepClock, ALongAccumulationIsOneStepOfAnOptimizerThatWasMade) {
  Clock clock;
  clock.ExpectOptimizer();
  for (int n = 0; n < 10 * 200; ++n) {
    clock.Tick(Kind::kBackward);
    if (n % 200 == 199) clock.Tick(Kind::kOptimizer, &first, "AdamW", 1);
  }
  EXPECT_EQ(clock.emitted().size(), 10u);
  EXPECT_THAT(clock.names(), ::testing::Each("optimizer:AdamW#1"));
}

TEST(StepClock, BesideAnOptimizerThatNeverStepsBackwardIsTrustedLate) {
  Clock clock;
  for (int n = 0; n < 3; ++n) clock.Tick(Kind::kBackward);
  clock.ExpectOptimizer();
  for (std::uint64_t n = 3; n < StepClock::kBackwardsBesideOptimizer + 10; ++n) clock.Tick(Kind::kBackward);
  // Without those of before: a gap would lie between them and the first that counts.
  ASSERT_EQ(clock.emitted().size(), 10u);
  EXPECT_EQ(clock.emitted().front().time_ns, StepClock::kBackwardsBesideOptimizer + 1);
  EXPECT_EQ(clock.emitted().front().samples, 10u);
}

TEST(StepClock, AnOptimizerThatIsZeroedAfterEachPassStepsOutOfSight) {
  Clock clock;
  clock.ExpectOptimizer();
  for (std::uint64_t n = 0; n < StepClock::kBackwardsToTrust + 10; ++n) {
    clock.OptimizerZeroed();
    clock.Tick(Kind::kBackward);
  }
  EXPECT_EQ(clock.emitted().size(), 9u);
  EXPECT_THAT(clock.names(), ::testing::Each("backward"));
}

// A compiled step calls no hook; its parameters change all the same.
TEST(StepClock, UpdatesOutOfSightMakeBackwardTheClockSoon) {
  Clock clock;
  clock.ExpectOptimizer();
  for (std::uint64_t n = 0; n < StepClock::kUpdatesToTrust + 20; ++n) {
    if (n > 0) clock.UpdatedOutOfSight();
    clock.Tick(Kind::kBackward);
  }
  EXPECT_EQ(clock.emitted().size(), 18u);
  EXPECT_THAT(clock.names(), ::testing::Each("backward"));
}

TEST(StepClock, BackwardIsNoClockWhereAnOptimizerSteps) {
  Clock clock;  // accumulation over 30 passes
  for (int n = 0; n < 90; ++n) {
    clock.Tick(Kind::kBackward);
    if (n % 15 == 14) clock.Tick(Kind::kOptimizer, &first, "SGD", 1);
  }
  EXPECT_EQ(clock.emitted().size(), 6u);
  EXPECT_THAT(clock.names(), ::testing::Each("optimizer:SGD#1"));
}

TEST(StepClock, TheWantedOneIsTakenAtOnceAndByNumber) {
  Clock clock("optimizer:SGD#2");
  clock.Tick(Kind::kMark);
  clock.Tick(Kind::kOptimizer, &first, "SGD", 1000);
  EXPECT_THAT(clock.names(), IsEmpty());
  clock.Tick(Kind::kOptimizer, &second, "FusedSGD", 1);
  EXPECT_THAT(clock.names(), ElementsAre("optimizer:FusedSGD#2"));
  clock.Tick(Kind::kMark);
  clock.Tick(Kind::kOptimizer, &first, "SGD", 1000);
  EXPECT_EQ(clock.emitted().size(), 1u);
}

TEST(StepClock, AWantedMarkWaitsForMarks) {
  Clock clock("mark");
  for (int n = 0; n < 300; ++n) clock.Tick(Kind::kOptimizer, &first, "SGD", 1);
  EXPECT_THAT(clock.names(), IsEmpty());
  clock.Tick(Kind::kMark);
  EXPECT_EQ(clock.names().size(), 1u);
}

TEST(StepClock, AnOptimizerBuiltAnewGoesOnAsTheOneBefore) {
  for (const char* wanted : {"", "optimizer:AdamW#1"}) {
    Clock clock(wanted);
    const int folds[3] = {};
    for (const int& fold : folds) {
      for (int n = 0; n < 10; ++n) clock.Tick(Kind::kOptimizer, &fold, "AdamW", 100);
    }
    for (int n = 0; n < 10; ++n) clock.Tick(Kind::kOptimizer, &folds[0], "AdamW", 100);  // its memory is used again
    EXPECT_THAT(clock.names(), ::testing::Each("optimizer:AdamW#1"));
    ASSERT_EQ(clock.emitted().size(), 40u);
    for (std::size_t n = 0; n < 40; ++n) {
      EXPECT_EQ(clock.emitted()[n].time_ns, n + 1);
      EXPECT_EQ(clock.emitted()[n].samples, 10u);
    }
  }
}

TEST(StepClock, ManyFoldsOfTwoOptimizersKeepTheClock) {
  Clock clock;
  const int objects[80] = {};
  for (int fold = 0; fold < 40; ++fold) {
    for (int n = 0; n < 6; ++n) {
      clock.Tick(Kind::kOptimizer, &objects[2 * fold], "AdamW", 100);
      clock.Tick(Kind::kOptimizer, &objects[2 * fold + 1], "SGD", 10);
    }
  }
  EXPECT_THAT(clock.names(), ::testing::Each("optimizer:AdamW#1"));
  EXPECT_EQ(clock.emitted().size(), 240u);
}

TEST(StepClock, FoldsShorterThanTheChoiceTakesAreCounted) {
  Clock clock;
  const int folds[4] = {};
  for (const int& fold : folds) {
    for (int n = 0; n < 3; ++n) clock.Tick(Kind::kOptimizer, &fold, "SGD", 100);
  }
  clock.Settle();
  EXPECT_THAT(clock.names(), ::testing::Each("optimizer:SGD#1"));
  EXPECT_EQ(clock.emitted().size(), 12u);
}

TEST(StepClock, WhoStepsInTurnIsNotTheSameBuiltAnew) {
  // A generator and a critic of one class and size, five steps of the critic's for one of the generator's.
  for (const char* wanted : {"", "optimizer:Adam#1"}) {
    Clock clock(wanted);
    for (int n = 0; n < 60; ++n) clock.Tick(Kind::kOptimizer, n % 6 == 0 ? &first : &second, "Adam", 100);
    clock.Settle();
    EXPECT_THAT(clock.names(), ::testing::Each("optimizer:Adam#1"));
    EXPECT_EQ(clock.emitted().size(), 10u) << wanted;
  }
  // Another class, or another size, is another optimizer.
  for (const auto& [name, parameters] : {std::pair{"Adam", 99}, {"SGD", 100}}) {
    Clock clock("optimizer:Adam#1");
    for (int n = 0; n < 10; ++n) clock.Tick(Kind::kOptimizer, &first, "Adam", 100);
    for (int n = 0; n < 10; ++n) clock.Tick(Kind::kOptimizer, &second, name, parameters);
    EXPECT_EQ(clock.emitted().size(), 10u) << name;
  }
}

TEST(StepClock, AShortRunGetsItsStepsAtTheEnd) {
  Clock clock;
  for (int n = 0; n < 3; ++n) clock.Tick(Kind::kOptimizer, &first, "SGD", 1);
  clock.Settle();
  EXPECT_EQ(clock.emitted().size(), 3u);
  clock.Settle();
  EXPECT_EQ(clock.emitted().size(), 3u);
}

}  // namespace
}  // namespace loopscope
