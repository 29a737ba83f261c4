#include "profiler/core/report/finding.h"

#include <gtest/gtest.h>

#include <set>

namespace loopscope {
namespace {

TEST(FindingId, IsTwelveHexDigitsThatSurviveMovedLines) {
  const std::string id = FindingId("host-sync", Where{"train/loop.cpp", 120, "TrainEpoch"});
  EXPECT_EQ(id.size(), 12u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), id.npos);
  EXPECT_EQ(id, FindingId("host-sync", Where{"train/loop.cpp", 987, "TrainEpoch"}));
}

TEST(FindingId, IsTheSameInEveryBuild) {
  // Computed by hand: FNV-1a 64 over "a\0b\0c\0".
  EXPECT_EQ(FindingId("a", Where{"b", 1, "c"}), "cec64e155111");
}

TEST(FindingId, DiffersByRulePathAndFunction) {
  const std::set<std::string> ids = {
      FindingId("host-sync", Where{"a.cpp", 1, "F"}), FindingId("needless-copy", Where{"a.cpp", 1, "F"}),
      FindingId("host-sync", Where{"b.cpp", 1, "F"}), FindingId("host-sync", Where{"a.cpp", 1, "G"}),
      FindingId("host-sync", std::nullopt),           FindingId("host-sync", Where{"a.cppF", 1, ""}),
      FindingId("host-synca.cpp", Where{"", 1, "F"}),
  };
  EXPECT_EQ(ids.size(), 7u);
}

TEST(RelativePath, CutsOnlyWholeFolders) {
  EXPECT_EQ(RelativePath("/home/ann/train/loop.cpp", "/home/ann"), "train/loop.cpp");
  EXPECT_EQ(RelativePath("/home/ann/train/loop.cpp", "/home/ann/"), "train/loop.cpp");
  EXPECT_EQ(RelativePath("/home/anna/loop.cpp", "/home/ann"), "/home/anna/loop.cpp");
  EXPECT_EQ(RelativePath("/home/ann", "/home/ann"), "/home/ann");
  EXPECT_EQ(RelativePath("/usr/x.cpp", "/"), "/usr/x.cpp");
  EXPECT_EQ(RelativePath("x.cpp", ""), "x.cpp");
  EXPECT_EQ(RelativePath("/home/ann/build/../loop.cpp", "/home/ann"), "loop.cpp");
  EXPECT_EQ(RelativePath("/opt/build/../loop.cpp", "/home/ann"), "/opt/loop.cpp");
  EXPECT_EQ(RelativePath("../../loop.cpp", "/home/ann"), "../../loop.cpp");
}

TEST(SeverityOfShare, FollowsTheTable) {
  EXPECT_EQ(SeverityOfShare(0.99), Severity::kInfo);
  EXPECT_EQ(SeverityOfShare(1), Severity::kLow);
  EXPECT_EQ(SeverityOfShare(4.99), Severity::kLow);
  EXPECT_EQ(SeverityOfShare(5), Severity::kMedium);
  EXPECT_EQ(SeverityOfShare(19.99), Severity::kMedium);
  EXPECT_EQ(SeverityOfShare(20), Severity::kHigh);
}

TEST(Finding, AbstentionsCarryTheirReason) {
  const Finding unknown = Finding::CannotTell("no validation in the window");
  EXPECT_EQ(unknown.verdict, Verdict::kCannotTell);
  EXPECT_EQ(unknown.reason, "no validation in the window");
  EXPECT_EQ(Finding::NotApplicable("no convolutions").verdict, Verdict::kNotApplicable);
}

TEST(Names, AreThoseOfTheReport) {
  EXPECT_EQ(SeverityName(Severity::kMedium), "medium");
  EXPECT_EQ(VerdictName(Verdict::kCannotTell), "cannot-tell");
  EXPECT_EQ(VerdictName(Verdict::kNotApplicable), "not-applicable");
}

}  // namespace
}  // namespace loopscope
