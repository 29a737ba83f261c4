#include "profiler/experiments/gate/bisection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A history in which some commits make the program slower, and some cannot be judged.
struct History {
  int last = 16;
  std::set<int> slow = {}, broken = {};
  std::set<std::pair<int, int>> judged = {};

  Bisection Search() {
    return Bisect(last, [this](int base, int commit) {
      EXPECT_LT(base, commit);
      EXPECT_TRUE(judged.emplace(base, commit).second) << base << " and " << commit << " were judged before";
      if (broken.contains(commit)) return CommitVerdict::kUnknown;
      const bool slower = slow.upper_bound(base) != slow.upper_bound(commit);
      return slower ? CommitVerdict::kSlower : CommitVerdict::kNotSlower;
    });
  }
};

TEST(Bisect, FindsEachSingleCommit) {
  for (int last = 1; last <= 40; ++last) {
    for (int slow = 1; slow <= last; ++slow) {
      History history{.last = last, .slow = {slow}};
      const Bisection found = history.Search();
      ASSERT_EQ(found.found.size(), 1u);
      EXPECT_EQ(found.found[0].commit, slow);
      EXPECT_THAT(found.found[0].maybe, IsEmpty());
      EXPECT_FALSE(found.rest_unknown);
      EXPECT_LE(history.judged.size(), 2 + 6u) << "halving";
    }
  }
}

TEST(Bisect, FindsEveryPair) {
  for (int a = 1; a <= 16; ++a) {
    for (int b = a + 1; b <= 16; ++b) {
      const Bisection found = History{.slow = {a, b}}.Search();
      ASSERT_EQ(found.found.size(), 2u) << a << " " << b;
      EXPECT_EQ(found.found[0].commit, a);
      EXPECT_EQ(found.found[1].commit, b);
      EXPECT_EQ(found.found[0].base, 0);
      EXPECT_EQ(found.found[1].base, a) << "what it adds to the first one";
    }
  }
}

TEST(Bisect, WhatIsNotSlowerIsNotSearched) {
  History history;
  const Bisection found = history.Search();
  EXPECT_EQ(found.whole, CommitVerdict::kNotSlower);
  EXPECT_THAT(found.found, IsEmpty());
  EXPECT_EQ(history.judged.size(), 1u);
  EXPECT_EQ(History{.broken = {16}}.Search().whole, CommitVerdict::kUnknown);
}

TEST(Bisect, CommitsThatCannotBeJudgedAreNamedWhereTheyMatter) {
  const Bisection found = History{.slow = {8}, .broken = {5, 6, 7}}.Search();
  ASSERT_EQ(found.found.size(), 1u);
  EXPECT_EQ(found.found[0].commit, 8);
  EXPECT_THAT(found.found[0].maybe, ElementsAre(5, 6, 7));
  EXPECT_THAT(History({.slow = {12}, .broken = {5, 6, 7}}).Search().found[0].maybe, IsEmpty());
  for (int broken = 1; broken < 16; ++broken) {
    for (int slow = 1; slow <= 16; ++slow) {
      const Bisection one = History{.slow = {slow}, .broken = {broken}}.Search();
      ASSERT_EQ(one.found.size(), 1u);
      // The commit itself if it can be judged, else the next one, which names it.
      EXPECT_EQ(one.found[0].commit, broken == slow ? slow + 1 : slow);
      EXPECT_EQ(one.found[0].maybe.empty(), broken != slow && broken != slow - 1);
    }
  }
}

}  // namespace
}  // namespace loopscope
