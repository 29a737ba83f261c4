// Which steps have their calls followed.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "probes/preload/follow/plan.h"

namespace loopscope {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// A loop of measured steps; `calls` are followed in each followed step. The first `details` are the detail window.
struct Loop {
  FollowPlan plan;
  std::uint64_t now_ns = kMs;
  std::uint64_t calls = 1000;
  std::int64_t details = 4;
  std::vector<bool> followed;

  Loop() { Next(false); }
  void Next(bool boundary) {
    const auto index = static_cast<std::int64_t>(followed.size());
    followed.push_back(plan.Next(now_ns, index < details ? index : -1, true, boundary));
  }
  void Step(std::uint64_t length_ns, bool next_is_boundary = false) {
    now_ns += length_ns;
    if (followed.back()) plan.Followed(calls);
    Next(next_is_boundary);
  }
  std::size_t Count(std::size_t from = 0) const {
    std::size_t count = 0;
    for (std::size_t i = from; i < followed.size(); ++i) count += followed[i] ? 1 : 0;
    return count;
  }
};

TEST(FollowPlan, EveryOtherStepOfTheDetailWindow) {
  Loop loop;
  for (int i = 0; i < 3; ++i) loop.Step(10 * kMs);
  EXPECT_EQ(loop.followed, (std::vector<bool>{false, true, false, true}));
}

TEST(FollowPlan, NothingWhileWarmingUp) {
  FollowPlan plan;
  for (std::uint64_t i = 1; i < 20; ++i) EXPECT_FALSE(plan.Next(i * kMs, -1, false, false));
}

TEST(FollowPlan, CostsAFiftiethOfTheTimeAtMost) {
  Loop loop;
  for (int i = 0; i < 2000; ++i) loop.Step(2 * kMs);
  // Each step outside of details costs 1000 calls of 400 ns: 0.4 ms of 2.
  const double spent_ms = 0.4 * static_cast<double>(loop.Count(4));
  EXPECT_GT(loop.Count(4), 10u);
  EXPECT_LE(spent_ms, 2000 * 2.0 / 50);
}

// A turn of other programs, an evaluation, a checkpoint: time without steps adds no budget.
TEST(FollowPlan, AWaitIsNotMadeUpFor) {
  Loop loop;
  for (int i = 0; i < 200; ++i) loop.Step(2 * kMs, i == 98);
  loop.Step(100'000 * kMs, true);
  const std::size_t before = loop.followed.size();
  for (int i = 0; i < 1000; ++i) loop.Step(2 * kMs);
  const double spent_ms = 0.4 * static_cast<double>(loop.Count(before));
  EXPECT_GT(loop.Count(before), 10u) << "it goes on";
  EXPECT_LE(spent_ms, 1.5 * 1000 * 2.0 / 50);
}

TEST(FollowPlan, CheapCallsAreFollowedInHalfOfTheSteps) {
  Loop loop;
  loop.calls = 10;
  for (int i = 0; i < 1000; ++i) loop.Step(20 * kMs);
  EXPECT_NEAR(static_cast<double>(loop.Count(4)), 500, 25);
  // One of each pair, and not always the same one: periodic work is met.
  std::size_t even = 0, odd = 0;
  for (std::size_t i = 4; i < loop.followed.size(); ++i) (i % 2 == 0 ? even : odd) += loop.followed[i] ? 1 : 0;
  EXPECT_GT(even, 150u);
  EXPECT_GT(odd, 150u);
}

TEST(FollowPlan, LongStepsAreWaitedFor) {
  Loop loop;
  loop.calls = 100'000;  // 40 ms a step: hardly ever within the limit
  std::size_t followed_long = 0;
  for (int i = 1; i < 200; ++i) {
    const bool is_long = i % 8 == 0;
    followed_long += is_long && loop.followed.back() ? 1 : 0;
    loop.Step(is_long ? 150 * kMs : 50 * kMs);
  }
  EXPECT_GE(followed_long, 2u);
  EXPECT_LE(loop.Count(4), FollowPlan::kMostHunted + 10) << "the search ends";
}

// Whatever steps are drawn: at this distance those of some offsets would be missed six times in turn.
TEST(FollowPlan, LongStepsAreExpectedAtTheirDistance) {
  for (int offset = 0; offset < 16; ++offset) {
    Loop loop;
    loop.calls = 800;
    int seen = 0, caught = 0;
    for (int i = 1; caught == 0 && seen < 10; ++i) {
      const bool is_long = i > 10 && i % 16 == offset;
      seen += is_long ? 1 : 0;
      caught += is_long && loop.followed.back() ? 1 : 0;
      const std::uint64_t cost_ns = loop.followed.back() ? loop.calls * FollowPlan::kCallNs : 0;
      loop.Step((is_long ? 42 * kMs : 1 * kMs) + cost_ns);
    }
    EXPECT_LE(seen, 3) << offset;
  }
}

// Steps that a busy machine made a third longer do not end the search.
TEST(FollowPlan, StepsThatAreLongByChanceDoNotEndTheSearch) {
  Loop loop;
  loop.calls = 800;
  loop.details = 5;
  for (int i = 1; i <= 150; ++i) {
    const bool is_long = i % 50 == 0;
    const std::uint64_t length_ns = is_long ? 42 * kMs : i % 9 == 0 ? kMs * 4 / 3 : kMs;
    EXPECT_TRUE(i != 150 || loop.followed.back());
    loop.Step(length_ns + (loop.followed.back() ? loop.calls * FollowPlan::kCallNs : 0));
  }
}

TEST(FollowPlan, StartsOfEpochsAlways) {
  Loop loop;
  loop.calls = 100'000'000;
  for (int i = 0; i < 50; ++i) loop.Step(5 * kMs, i == 20 || i == 40);
  EXPECT_TRUE(loop.followed[21]);
  EXPECT_TRUE(loop.followed[41]);
}

TEST(FollowPlan, OnlyDetailsWhereRanksWaitForEachOther) {
  Loop loop;
  loop.plan.OnlyDetails();
  for (int i = 0; i < 300; ++i) loop.Step(i % 8 == 0 ? 100 * kMs : 20 * kMs);
  EXPECT_EQ(loop.Count(4), 0u);
}

TEST(FollowPlan, AllDetailsWhereTheFollowerCostsLittle) {
  const auto followed = [](bool all) {
    FollowPlan plan;
    if (all) plan.AllDetails();
    std::size_t count = 0;
    for (std::int64_t i = 0; i < 4; ++i) count += plan.Next(static_cast<std::uint64_t>(i + 1) * kMs, i, true, false);
    return count;
  };
  EXPECT_EQ(followed(true), 4u);
  EXPECT_EQ(followed(false), 2u);
}

}  // namespace
}  // namespace loopscope
