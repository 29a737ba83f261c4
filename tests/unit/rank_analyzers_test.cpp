#include "analyzers/ranks/rank_analyzers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analyzers/diagnose/rule_texts.h"
#include "profiler/core/seam.h"

namespace loopscope {
namespace {

using testing::HasSubstr;

// Ten steps of 100 ms, of which `communication_ms` is communication.
RankSummary Rank(int rank, double communication_ms) {
  RankSummary summary;
  summary.input = "rank" + std::to_string(rank);
  summary.run.rank = rank;
  summary.steps = 10;
  summary.mean_step_ms = 100;
  summary.own_step_ms.assign(10, static_cast<float>(100 - communication_ms));
  summary.loader_wait_ms = 0;
  summary.communication_seen = true;
  return summary;
}

void AddCollective(RankSummary& rank, double length_ms, std::uint64_t sequence = 0, bool steady = true,
                   const std::string& name = "0 allreduce") {
  const auto at = std::ranges::find(rank.names, name);
  const auto index = static_cast<std::uint32_t>(at - rank.names.begin());
  if (at == rank.names.end()) rank.names.push_back(name);
  const auto length_ns = static_cast<std::int64_t>(length_ms * 1e6);
  rank.collectives.push_back({index, sequence, length_ns, length_ns, steady});
}

std::vector<Finding> RunRule(std::string_view rule, const std::vector<RankSummary>& ranks) {
  return FindById(AllRankAnalyzers(), rule)->run(ranks);
}

TEST(RankAnalyzers, EachHasItsText) {
  EXPECT_EQ(AllRankAnalyzers().size(), 7u);
  for (const RankAnalyzer* one : AllRankAnalyzers()) {
    EXPECT_NE(RuleTitle(one->id), "") << one->id;
    EXPECT_NE(RuleAdvice(one->id), "") << one->id;
    EXPECT_TRUE(one->question.ends_with("?"));
  }
  EXPECT_EQ(FindById(AllRankAnalyzers(), "host-sync"), nullptr);
}

RankSummary Recorded(int rank, std::initializer_list<std::pair<const char*, bool>> entered) {
  RankSummary summary;
  summary.run.rank = rank;
  for (const auto& [operation, ended] : entered) {
    RankEntered& one = summary.entered.emplace_back();
    one.group = "0 (default_pg)";
    one.operation = operation;
    one.sequence = summary.entered.size();
    one.entered_ns = 1'795'737'817'000'000'000 + rank * 1'000'000'000LL;
    one.ended = ended;
    one.where = Where{"train.py", 10 + static_cast<int>(one.sequence), "step"};
  }
  return summary;
}

TEST(HangingCollective, TheRankThatNeverEnteredIsNamed) {
  const std::vector<Finding> found =
      RunRule("hanging-collective",
              {Recorded(0, {{"all_reduce", true}, {"all_gather", false}}), Recorded(1, {{"all_reduce", true}}),
               Recorded(2, {{"all_reduce", true}, {"all_gather", false}})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(
      found[0].title,
      "rank 1 never entered all_gather #2 of group 0 (default_pg): ranks 0, 2 wait there since 2026-11-27 00:03:37 "
      "UTC");
  EXPECT_EQ(found[0].severity, Severity::kHigh);
  EXPECT_THAT(found[0].evidence.at(0).text, HasSubstr("rank 1: its last in this group was all_reduce #1"));
  EXPECT_EQ(found[0].evidence.at(0).where->line, 11);
  EXPECT_EQ(found[0].evidence.at(1).where->line, 12);
}

TEST(HangingCollective, RanksThatCallDifferentThingsAreNamed) {
  const std::vector<Finding> found =
      RunRule("hanging-collective", {Recorded(0, {{"all_reduce", false}}), Recorded(1, {{"broadcast", false}})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].title, HasSubstr("rank 0 calls all_reduce where rank 1 calls broadcast"));
}

TEST(HangingCollective, ATransferThatHangsIsNotARanksFault) {
  const std::vector<Finding> found =
      RunRule("hanging-collective", {Recorded(0, {{"all_reduce", false}}), Recorded(1, {{"all_reduce", false}})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].title, HasSubstr("its transfer hangs"));
}

TEST(HangingCollective, AbstainsWithoutWhatItNeeds) {
  EXPECT_TRUE(RunRule("hanging-collective", {Recorded(0, {{"all_reduce", true}}), Recorded(1, {{"all_reduce", true}})})
                  .empty());
  EXPECT_EQ(RunRule("hanging-collective", {Recorded(0, {{"all_reduce", false}})}).at(0).verdict, Verdict::kCannotTell);
  EXPECT_EQ(RunRule("hanging-collective", {Rank(0, 1), Rank(1, 1)}).at(0).verdict, Verdict::kNotApplicable);
}

TEST(Straggler, TheRankWithTheShortestCollectivesIsLate) {
  std::vector<RankSummary> ranks = {Rank(0, 20), Rank(1, 20), Rank(2, 20)};
  for (int step = 0; step < 10; ++step) {
    AddCollective(ranks[0], 6);
    AddCollective(ranks[1], 1);
    AddCollective(ranks[2], 5);
  }
  const std::vector<Finding> found = RunRule("straggler", ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].verdict, Verdict::kFound);
  EXPECT_NEAR(found[0].cost_ms_per_step, 4.5, 1e-6);
  EXPECT_THAT(found[0].title, HasSubstr("for rank 1"));
  EXPECT_EQ(found[0].evidence.at(0).text, "rank 1 is last in 10 of 10 collectives");
}

// By turns the two ranks of `slow` come last.
std::vector<RankSummary> RanksOfMachines(const std::vector<std::string>& nodes, const std::string& slow) {
  std::vector<RankSummary> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.push_back(Rank(rank, 20));
    ranks.back().run.node = nodes[static_cast<std::size_t>(rank)];
  }
  for (int step = 0; step < 32; ++step) {
    int of_slow = 0;
    for (RankSummary& rank : ranks) {
      const bool last = rank.run.node == slow && of_slow++ == step / 2 % 2;
      AddCollective(rank, last ? 1 : 7);
    }
  }
  return ranks;
}

TEST(Straggler, NamesTheMachineWhereThereAreSeveral) {
  std::vector<RankSummary> ranks = RanksOfMachines({"a", "a", "a", "b"}, "b");
  for (std::size_t i = 0; i < ranks[3].collectives.size(); ++i) ranks[3].collectives[i].length_ns = 1'000'000;
  const std::vector<Finding> found = RunRule("straggler", ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].title, HasSubstr("for rank 3 on b"));
  for (RankSummary& rank : ranks) rank.run.node = "a";
  EXPECT_THAT(RunRule("straggler", ranks).at(0).title, testing::EndsWith("for rank 3"));
}

TEST(Straggler, TheRanksOfOneMachineMayBeLateByTurns) {
  const std::vector<Finding> found = RunRule("straggler", RanksOfMachines({"a", "a", "b", "b"}, "b"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "the other ranks wait 19.2 ms per step for those on b");
  EXPECT_EQ(found[0].evidence.at(0).text, "one of them is last in 32 of 32 collectives");
  EXPECT_THAT(RunRule("straggler", RanksOfMachines({"", "", "", ""}, "")), testing::IsEmpty());
  EXPECT_THAT(RunRule("straggler", RanksOfMachines({"a", "b", "c", "d"}, "e")), testing::IsEmpty());
}

// Ranks 2 and 5 of eight come last by turns.
TEST(Straggler, TwoOfManyMayBeLateByTurns) {
  std::vector<RankSummary> ranks;
  for (int rank = 0; rank < 8; ++rank) ranks.push_back(Rank(rank, 20));
  for (int step = 0; step < 64; ++step) {
    for (int rank = 0; rank < 8; ++rank)
      AddCollective(ranks[static_cast<std::size_t>(rank)], rank == (step % 2 ? 2 : 5) ? 1 : 7);
  }
  const std::vector<Finding> found = RunRule("straggler", ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "the other ranks wait 38.4 ms per step for rank 2 and rank 5");
}

TEST(Straggler, OthersThatAreSlowTooAreNamed) {
  std::vector<RankSummary> ranks;
  for (int rank = 0; rank < 8; ++rank) ranks.push_back(Rank(rank, rank == 3 ? 2 : rank == 6 ? 5 : 20));
  for (int step = 0; step < 10; ++step) {
    for (int rank = 0; rank < 8; ++rank)
      AddCollective(ranks[static_cast<std::size_t>(rank)], rank == 3 ? 1 : rank == 6 ? 2 : 7);
  }
  const std::vector<Finding> found = RunRule("straggler", ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].title, HasSubstr("for rank 3"));
  const auto says = [](const Evidence& one) { return one.text == "slow by their own work, too: rank 6 (95.0 ms)"; };
  EXPECT_TRUE(std::ranges::any_of(found[0].evidence, says));
}

TEST(Straggler, BucketsThatWaitTogetherAreChargedOnce) {
  std::vector<RankSummary> ranks = {Rank(0, 20), Rank(1, 20)};
  for (int step = 0; step < 10; ++step) {
    for (const int added_ms : {9, 1}) {
      AddCollective(ranks[0], 9);
      ranks[0].collectives.back().added_ns = added_ms * 1'000'000;
      AddCollective(ranks[1], 1);
    }
  }
  const std::vector<Finding> found = RunRule("straggler", ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].cost_ms_per_step, 9, 1e-6) << "8 of the first bucket, of the second what it adds";
}

TEST(Straggler, RanksThatTakeTurnsAreNone) {
  std::vector<RankSummary> ranks = {Rank(0, 20), Rank(1, 20)};
  for (int step = 0; step < 10; ++step) {
    AddCollective(ranks[0], step % 2 ? 9 : 1);
    AddCollective(ranks[1], step % 2 ? 1 : 9);
  }
  EXPECT_TRUE(RunRule("straggler", ranks).empty());
}

TEST(Straggler, ABurstOfOtherLoadIsNone) {
  std::vector<RankSummary> ranks = {Rank(0, 20), Rank(1, 20)};
  for (int step = 0; step < 40; ++step) {
    const bool burst = step >= 8 && step < 12;
    AddCollective(ranks[0], burst ? 50 : 1 + step % 2);
    AddCollective(ranks[1], burst ? 1 : 2 - step % 2);
  }
  EXPECT_TRUE(RunRule("straggler", ranks).empty());
}

TEST(Straggler, TwoThirdsOfTheWaitingIsTheBoundary) {
  std::vector<RankSummary> ranks = {Rank(0, 20), Rank(1, 20)};
  for (int step = 0; step < 30; ++step) {
    AddCollective(ranks[0], step % 3 != 2 ? 9 : 1);
    AddCollective(ranks[1], step % 3 != 2 ? 1 : 9);
  }
  EXPECT_EQ(RunRule("straggler", ranks).size(), 1u);
  AddCollective(ranks[0], 1);
  AddCollective(ranks[1], 2);
  EXPECT_TRUE(RunRule("straggler", ranks).empty());
}

// Rank 1 late by 8 ms in `late` of ten stretches, rank 0 in the others.
std::vector<RankSummary> LateIn(int late) {
  std::vector<RankSummary> ranks = {Rank(0, 20), Rank(1, 20)};
  for (int step = 0; step < 10; ++step) {
    AddCollective(ranks[0], step < late ? 9 : 1);
    AddCollective(ranks[1], step < late ? 1 : 9);
  }
  return ranks;
}

TEST(Straggler, MoreThanChanceAllows) {
  EXPECT_EQ(RunRule("straggler", LateIn(9)).size(), 1u);  // t = 4, p = 0.0016 for each of two ranks
  EXPECT_TRUE(RunRule("straggler", LateIn(8)).empty());   // t = 2.25, p = 0.026
}

TEST(Straggler, OnCpusShortRecordingsCannotTell) {
  for (const double step_ms : {29.0, 31.0}) {
    std::vector<RankSummary> ranks = {Rank(0, 0), Rank(1, 0)};
    for (RankSummary& rank : ranks) rank.mean_step_ms = step_ms;
    for (int step = 0; step < 10; ++step) {
      AddCollective(ranks[0], 9);
      AddCollective(ranks[1], 1);
    }
    const std::vector<Finding> found = RunRule("straggler", ranks);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].verdict, step_ms < 30 ? Verdict::kCannotTell : Verdict::kFound);
    for (RankSummary& rank : ranks) rank.devices.resize(1);
    EXPECT_EQ(RunRule("straggler", ranks).at(0).verdict, Verdict::kFound);
  }
}

TEST(Straggler, WaitingForAProcessorIsNoWorkOfItsOwn) {
  for (const int delay_ms : {6, 8}) {  // of the 8 that the others wait, in steps of 100
    std::vector<RankSummary> ranks = LateIn(10);
    for (RankSummary& rank : ranks) {
      rank.facts = {{"processors.window_ns", "1000000000"}, {"processors.training_delay_ns", "20000000"}};
    }
    ranks[1].facts["processors.training_delay_ns"] = std::to_string(20'000'000 + 10'000'000 * delay_ms);
    const std::vector<Finding> found = RunRule("straggler", ranks);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].verdict, delay_ms == 8 ? Verdict::kCannotTell : Verdict::kFound);
  }
}

TEST(Straggler, WaitingUnderOnePercentOfAStepIsNone) {
  std::vector<RankSummary> ranks = {Rank(0, 20), Rank(1, 20)};
  for (int step = 0; step < 10; ++step) {
    AddCollective(ranks[0], 1.9);
    AddCollective(ranks[1], 1);
  }
  EXPECT_TRUE(RunRule("straggler", ranks).empty());
}

TEST(Straggler, CollectivesAreMatchedByTheirNumber) {
  std::vector<RankSummary> ranks = {Rank(0, 20), Rank(1, 20)};
  // Rank 1's recording began one collective later: by order, each would meet the next.
  for (std::uint64_t number = 1; number <= 10; ++number) {
    AddCollective(ranks[0], number % 2 ? 30 : 20, number);
    if (number > 1) AddCollective(ranks[1], number % 2 ? 25 : 15, number);
  }
  const std::vector<Finding> found = RunRule("straggler", ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].evidence.at(0).text, "rank 1 is last in 9 of 9 collectives");
  EXPECT_NEAR(found[0].cost_ms_per_step, 4.5, 1e-6);
}

TEST(Straggler, WithoutNumbersUnequalCountsAreNotMatched) {
  std::vector<RankSummary> ranks = {Rank(0, 20), Rank(1, 20)};
  for (int i = 0; i < 10; ++i) AddCollective(ranks[0], 30);
  for (int i = 0; i < 9; ++i) AddCollective(ranks[1], 1);
  EXPECT_TRUE(RunRule("straggler", ranks).empty());
}

TEST(Straggler, OnlySteadyStepsAndRanksOfTheGroupCount) {
  std::vector<RankSummary> ranks = {Rank(0, 20), Rank(1, 20), Rank(2, 20)};
  for (int i = 0; i < 10; ++i) {
    AddCollective(ranks[0], 500, 0, false);
    AddCollective(ranks[1], 1, 0, false);
    AddCollective(ranks[0], 9, 0, true, "pair allgather");
    AddCollective(ranks[2], 1, 0, true, "pair allgather");
  }
  const std::vector<Finding> found = RunRule("straggler", ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].title, HasSubstr("for rank 2"));
  EXPECT_NEAR(found[0].cost_ms_per_step, 8, 1e-6);
}

TEST(Straggler, WithoutCollectivesTheLongestOwnWorkTells) {
  std::vector<RankSummary> ranks = {Rank(0, 30), Rank(1, 2), Rank(2, 32)};
  ranks[1].loader_wait_ms = 25;
  const std::vector<Finding> found = RunRule("straggler", ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].cost_ms_per_step, 29, 1e-4);
  ASSERT_EQ(found[0].evidence.size(), 3u);
  EXPECT_EQ(found[0].evidence[0].text, "rank 1 is last in 10 of 10 steps");
  EXPECT_THAT(found[0].evidence[2].text, HasSubstr("for its loader"));
}

TEST(Straggler, SaysWhereItCannotTell) {
  EXPECT_EQ(RunRule("straggler", {Rank(0, 1)}).at(0).verdict, Verdict::kNotApplicable);
  std::vector<RankSummary> ranks = {Rank(0, 20), Rank(1, 20)};
  ranks[1].steps = 2;
  ranks[1].why_no_steps = "no optimizer was seen";
  const std::vector<Finding> found = RunRule("straggler", ranks);
  EXPECT_EQ(found.at(0).verdict, Verdict::kCannotTell);
  EXPECT_EQ(found[0].reason, "rank 1 has 2 timed steps: no optimizer was seen");
  ranks[1].steps = 10;
  ranks[0].communication_seen = ranks[1].communication_seen = false;
  EXPECT_EQ(RunRule("straggler", ranks).at(0).reason, "no communication between the ranks was recorded");
}

RankDevice Device(std::uint32_t ordinal, double compute_ms, double communication_ms = 0) {
  RankDevice device;
  device.ordinal = ordinal;
  device.compute_ms = compute_ms;
  device.communication_ms = communication_ms;
  return device;
}

TEST(DeviceImbalance, OneProcessWithTwoDevices) {
  RankSummary rank = Rank(0, 0);
  rank.devices = {Device(0, 60), Device(1, 30)};
  const std::vector<Finding> found = RunRule("device-imbalance", {rank});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].cost_ms_per_step, 15, 1e-9);
  EXPECT_THAT(found[0].title, HasSubstr("device 0 works 60"));
}

TEST(DeviceImbalance, BetweenRanksAndAtTheBoundary) {
  std::vector<RankSummary> ranks = {Rank(0, 0), Rank(1, 0)};
  ranks[0].devices = {Device(0, 50)};
  ranks[1].devices = {Device(0, 40)};
  EXPECT_THAT(RunRule("device-imbalance", ranks).at(0).title, HasSubstr("rank 0, device 0"));
  ranks[1].devices[0].compute_ms = 40.1;
  EXPECT_TRUE(RunRule("device-imbalance", ranks).empty());
  ranks[0].devices[0].compute_ms = 2;
  ranks[1].devices[0].compute_ms = 1;
  EXPECT_TRUE(RunRule("device-imbalance", ranks).empty()) << "an even share would save half a percent";
}

TEST(DeviceImbalance, CommunicationIsNoWork) {
  std::vector<RankSummary> ranks = {Rank(0, 0), Rank(1, 0)};
  ranks[0].devices = {Device(0, 50, 50)};
  ranks[1].devices = {Device(0, 50, 5)};
  EXPECT_TRUE(RunRule("device-imbalance", ranks).empty());
}

TEST(DeviceImbalance, SaysWhereItCannotTell) {
  EXPECT_EQ(RunRule("device-imbalance", {Rank(0, 0), Rank(1, 0)}).at(0).verdict, Verdict::kNotApplicable);
  RankSummary rank = Rank(0, 0);
  rank.devices = {Device(0, 60), Device(1, 30)};
  rank.steps = 0;
  EXPECT_EQ(RunRule("device-imbalance", {rank}).at(0).verdict, Verdict::kCannotTell);
}

TEST(DiagnoseRanks, FindingsAreCompleteAndSortedIn) {
  std::vector<RankSummary> ranks = {Rank(0, 30), Rank(1, 0)};
  Report report;
  Finding smaller;
  smaller.rule = "host-sync";
  smaller.severity = Severity::kLow;
  report.findings = {smaller};
  DiagnoseRanks(
      ranks, [](const Finding&) { return std::string(); }, report);
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].rule, "straggler");
  EXPECT_EQ(report.findings[0].severity, Severity::kHigh);
  EXPECT_NEAR(report.findings[0].cost_pct, 30, 1e-3);
  EXPECT_EQ(report.findings[0].id.size(), 12u);
  EXPECT_NE(report.findings[0].advice, "");
  ASSERT_EQ(report.rules.size(), AllRankAnalyzers().size());
  EXPECT_EQ(report.rules[0].verdict, Verdict::kFound);
  EXPECT_EQ(report.rules[1].verdict, Verdict::kNotApplicable);
}

// Two ranks that exchange gradients.
std::vector<RankSummary> Exchanging(double own_ms = 90) {
  std::vector<RankSummary> ranks = {Rank(0, 100 - own_ms), Rank(1, 100 - own_ms)};
  for (RankSummary& rank : ranks) {
    rank.run.ranks = 2;
    rank.gradient_exchanges = 2;
  }
  return ranks;
}

Verdict VerdictOf(std::string_view rule, const std::vector<RankSummary>& ranks) {
  const std::vector<Finding> findings = RunRule(rule, ranks);
  return findings.empty() ? Verdict::kClear : findings.front().verdict;
}

TEST(DuplicatedData, LossesThatAreTheSameToTheLastBit) {
  std::vector<RankSummary> ranks = Exchanging();
  ranks[0].first_losses = ranks[1].first_losses = {1.25, 1.125, 0.75};
  ranks[0].facts =
      ranks[1].facts = {{"loader.sampler", "RandomSampler"}, {"loader.first", "3,1"}, {"loader.where", "train.py:38"}};
  const std::vector<Finding> found = RunRule("duplicated-data", ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].verdict, Verdict::kFound);
  EXPECT_NEAR(found[0].cost_ms_per_step, 50, 1e-6) << "one of two ranks would do";
  ASSERT_TRUE(found[0].evidence[0].where);
  EXPECT_EQ(found[0].evidence[0].where->line, 38);
  EXPECT_THAT(found[0].evidence[1].text, HasSubstr("RandomSampler, and its first batch holds the same ones"));
  ranks[1].first_losses[2] = std::nextafter(0.75, 1);
  EXPECT_EQ(VerdictOf("duplicated-data", ranks), Verdict::kCannotTell);
}

TEST(DuplicatedData, SharesOfOneSetAreClear) {
  std::vector<RankSummary> ranks = Exchanging();
  for (RankSummary& rank : ranks) rank.facts = {{"loader.sampler", "DistributedSampler"}};
  EXPECT_EQ(VerdictOf("duplicated-data", ranks), Verdict::kClear);
  for (RankSummary& rank : ranks) {
    rank.facts = {{"loader.sampler", "Shards"}, {"loader.samples", "100"}, {"loader.pass", "50"}};
  }
  EXPECT_EQ(VerdictOf("duplicated-data", ranks), Verdict::kClear);
  for (RankSummary& rank : ranks) rank.facts["loader.pass"] = "100";
  EXPECT_EQ(VerdictOf("duplicated-data", ranks), Verdict::kCannotTell) << "shares of their own have this look too";
}

TEST(DuplicatedData, RanksThatShareAModelSeeTheSameSamplesRightly) {
  std::vector<RankSummary> ranks = Exchanging();
  ranks[0].first_losses = ranks[1].first_losses = {1.25, 1.125};
  ranks[0].gradient_exchanges = ranks[1].gradient_exchanges = 0;
  EXPECT_EQ(VerdictOf("duplicated-data", ranks), Verdict::kNotApplicable);
}

TEST(UnusedParameterSearch, FiresWhenNothingIsEverUnused) {
  std::vector<RankSummary> ranks = Exchanging();
  EXPECT_EQ(VerdictOf("unused-parameter-search", ranks), Verdict::kClear);
  for (RankSummary& rank : ranks) {
    rank.unused_search = {.per_step = 4, .ms_per_step = 0.5, .passes_checked = 20, .passes_unused = 0, .where = {}};
    rank.facts = {{"ddp.where", "train.py:36"}};
  }
  ranks[1].unused_search.ms_per_step = 2;
  const std::vector<Finding> found = RunRule("unused-parameter-search", ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].verdict, Verdict::kFound);
  EXPECT_NEAR(found[0].cost_ms_per_step, 2, 1e-9);
  ASSERT_TRUE(found[0].evidence[0].where);
  EXPECT_EQ(found[0].evidence[0].where->line, 36);
  ranks[1].unused_search.passes_unused = 1;
  EXPECT_EQ(VerdictOf("unused-parameter-search", ranks), Verdict::kClear) << "rank 1 needs the search";
  ranks[1].unused_search = {.per_step = 4, .ms_per_step = 2, .passes_checked = 0, .passes_unused = 0, .where = {}};
  EXPECT_EQ(VerdictOf("unused-parameter-search", ranks), Verdict::kCannotTell);
  ranks[0].gradient_exchanges = ranks[1].gradient_exchanges = 0;
  EXPECT_EQ(VerdictOf("unused-parameter-search", ranks), Verdict::kNotApplicable);
}

TEST(Overdistributed, WhenOneRankAloneWouldBeQuicker) {
  EXPECT_EQ(VerdictOf("overdistributed", Exchanging(60)), Verdict::kClear) << "alone: 120 ms";
  const std::vector<Finding> found = RunRule("overdistributed", Exchanging(20));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].verdict, Verdict::kFound);
  EXPECT_NEAR(found[0].cost_ms_per_step, 60, 1e-3);
  std::vector<RankSummary> ranks = Exchanging(20);
  ranks[0].run.ranks = ranks[1].run.ranks = 4;
  EXPECT_EQ(VerdictOf("overdistributed", ranks), Verdict::kCannotTell) << "two ranks are missing";
  ranks = Exchanging(20);
  ranks[1].steps = 2;
  EXPECT_EQ(VerdictOf("overdistributed", ranks), Verdict::kCannotTell);
  EXPECT_EQ(VerdictOf("overdistributed", {Rank(0, 80)}), Verdict::kNotApplicable);
}

TEST(RedundantLogging, WhenSeveralRanksWriteAsLong) {
  std::vector<RankSummary> ranks = Exchanging();
  ranks[0].output = {.ms_per_step = 3, .steps_share = 1, .where = Where{"train.py", 51, "main"}};
  EXPECT_EQ(VerdictOf("redundant-logging", ranks), Verdict::kClear) << "one rank's log";
  ranks[1].output = {.ms_per_step = 2, .steps_share = 1, .where = {}};
  const std::vector<Finding> found = RunRule("redundant-logging", ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].cost_ms_per_step, 3, 1e-9);
  EXPECT_EQ(found[0].evidence[0].where->line, 51);
  ranks[1].output.ms_per_step = 0.5;
  EXPECT_EQ(VerdictOf("redundant-logging", ranks), Verdict::kClear) << "a line beside a page";
  ranks[1].output = {.ms_per_step = 2, .steps_share = 0.4, .where = {}};
  EXPECT_EQ(VerdictOf("redundant-logging", ranks), Verdict::kClear) << "not the same log";
  ranks[1].output.steps_share = 1;
  ranks[0].output.ms_per_step = ranks[1].output.ms_per_step = 0.5;
  EXPECT_EQ(VerdictOf("redundant-logging", ranks), Verdict::kClear) << "half a percent";
  ranks[1].steps = 1;
  EXPECT_EQ(VerdictOf("redundant-logging", ranks), Verdict::kCannotTell);
}

}  // namespace
}  // namespace loopscope
