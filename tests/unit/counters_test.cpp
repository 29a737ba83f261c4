#include "profiler/core/report/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "profiler/core/write_file.h"
#include "profiler/experiments/gate/counter_file.h"
#include "tests/support/case_reader.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A step that computes and reads its loss once; `more` goes into it.
std::string Program(const std::string& more = "", int steps = 10, int samples = 32) {
  return "case program\n  step x" + std::to_string(steps) + " samples=" + std::to_string(samples) +
         "\n    op aten::conv2d 5ms at=/src/train.cpp:40:Train\n"
         "      op aten::empty 1us\n"
         "    op aten::item 2us at=/src/train.cpp:41:Train\n"
         "      op aten::_local_scalar_dense 1us\n"
         "    range backward 5ms at=/src/train.cpp:42:Train\n" +
         more + "    range optimizer 1ms value=10\n  expect clear\n";
}

// The operators behind a finding of needless copies.
const std::string kCopy = "    op aten::clone 1ms at=/src/train.cpp:50:Train\n";

Counters CountersOfText(const std::string& text, std::vector<Finding> findings = {}, int steps = 30) {
  auto cases = test::ParseCases(text, "inline");
  if (!cases) throw std::runtime_error(cases.error().Message());
  return CountersOf(Timeline::Build(std::move(cases->at(0).trace)), findings, steps);
}

const CounterRow* Find(const CounterComparison& comparison, std::string_view name) {
  const auto found = std::ranges::find(comparison.rows, name, &CounterRow::name);
  return found == comparison.rows.end() ? nullptr : &*found;
}

Finding Found(Severity severity, double cost_pct, std::string path = "/src/train.cpp") {
  Finding finding;
  finding.rule = "needless-copy";
  finding.title = "a batch is copied";
  finding.severity = severity;
  finding.cost_pct = cost_pct;
  finding.evidence = {{"", 1, Where{std::move(path), 50, "Train"}}};
  return finding;
}

TEST(Counters, AreThoseOfTheSameStepsWhereALoopSettlesLater) {
  const auto program = [](const std::string& at_first) {
    const std::string rest = "    range backward 5ms at=/src/train.cpp:42:Train\n    range optimizer 1ms value=10\n";
    return "case program\n  step x2 samples=32\n    op aten::conv2d " + at_first + " at=/src/train.cpp:40:Train\n" +
           "    op aten::item 2us at=/src/train.cpp:41:Train\n      op aten::_local_scalar_dense 1us\n" + rest +
           "  step x18 samples=32\n    op aten::conv2d 5ms at=/src/train.cpp:40:Train\n" + rest + "  expect clear\n";
  };
  for (const std::string at_first : {"5ms", "50ms"}) {
    const Counters counters = CountersOfText(program(at_first), {}, 10);
    EXPECT_EQ(counters.steps, 10);
    EXPECT_DOUBLE_EQ(counters.counts.at("host reads").per_step, 0.2) << at_first;
  }
}

TEST(Counters, CountPerStepAndByPlace) {
  const Counters counters = CountersOfText(Program());
  EXPECT_EQ(counters.steps, 10);
  EXPECT_DOUBLE_EQ(counters.samples_per_step, 32);
  EXPECT_DOUBLE_EQ(counters.counts.at("host reads").per_step, 1) << "aten::item and what it calls are one read";
  EXPECT_EQ(counters.counts.at("host reads").kind, CounterKind::kSync);
  EXPECT_EQ(counters.counts.at("host reads").sites.at(0).where.line, 41);
  EXPECT_DOUBLE_EQ(counters.counts.at("op aten::conv2d").per_step, 1);
  EXPECT_DOUBLE_EQ(counters.counts.at("tensors allocated").per_step, 1);
  EXPECT_DOUBLE_EQ(counters.counts.at("ops").per_step, 4);
  EXPECT_FALSE(counters.counts.contains("op aten::empty")) << "what an operator calls is part of it";
  EXPECT_FALSE(counters.counts.contains("anomaly mode"));
}

TEST(Counters, OnlyTheFirstStepsAreCounted) {
  EXPECT_EQ(CountersOfText(Program("", 40)).steps, 30);
  EXPECT_DOUBLE_EQ(CountersOfText(Program("", 40)).counts.at("host reads").per_step, 1);
}

TEST(Counters, OfDevices) {
  const Counters counters = CountersOfText(
      "case gpu\n  host gpu=H200\n  step x5\n"
      "    h2d 10us runs=1ms bytes=1MB\n"
      "    launch gemm 10us runs=2ms\n    launch relu 10us runs=1ms\n"
      "    range sync 3ms name=cudaStreamSynchronize at=/src/train.cpp:60:Train\n"
      "    range optimizer 1ms value=10\n  expect clear\n");
  EXPECT_DOUBLE_EQ(counters.counts.at("kernels").per_step, 2);
  EXPECT_GE(counters.counts.at("bytes to the device").per_step, 1e6);
  EXPECT_DOUBLE_EQ(counters.counts.at("waits for the device").per_step, 1);
  EXPECT_EQ(counters.counts.at("waits for the device").sites.at(0).where.line, 60);
}

TEST(CompareCounters, TheSameProgramHasNoChange) {
  const CounterComparison same =
      CompareCounters(CountersOfText(Program()), CountersOfText(Program()), {.strict = true});
  EXPECT_THAT(same.rows, IsEmpty());
  EXPECT_GE(same.compared, 4);
  EXPECT_FALSE(same.fails());
}

TEST(CompareCounters, ANewHostReadFailsWithItsLine) {
  const auto comparison = CompareCounters(
      CountersOfText(Program()),
      CountersOfText(
          Program("    op aten::item 2us at=/src/train.cpp:47:Train\n      op aten::_local_scalar_dense 1us\n")),
      {});
  const CounterRow* row = Find(comparison, "host reads");
  ASSERT_TRUE(row && row->fails);
  EXPECT_EQ(row->change, "more");
  EXPECT_EQ(row->after, 2);
  ASSERT_EQ(row->places.size(), 1u) << "the read that was there before is none of them";
  EXPECT_EQ(row->places[0].where.line, 47);
  EXPECT_EQ(&comparison.rows.front(), row);
  ASSERT_TRUE(Find(comparison, "ops"));
  EXPECT_FALSE(Find(comparison, "ops")->fails);
}

TEST(CompareCounters, AReadThatIsGoneIsReportedAndPasses) {
  const auto comparison = CompareCounters(
      CountersOfText(
          Program("    op aten::item 2us at=/src/train.cpp:47:Train\n      op aten::_local_scalar_dense 1us\n")),
      CountersOfText(Program()), {});
  ASSERT_TRUE(Find(comparison, "host reads"));
  EXPECT_EQ(Find(comparison, "host reads")->change, "fewer");
  EXPECT_FALSE(comparison.fails());
}

TEST(CompareCounters, AnomalyModeFailsWithTheBackwardPass) {
  const auto comparison =
      CompareCounters(CountersOfText(Program()), CountersOfText(Program("    op aten::relu 1us anomaly\n")), {});
  const CounterRow* row = Find(comparison, "anomaly mode");
  ASSERT_TRUE(row && row->fails);
  EXPECT_EQ(row->kind, CounterKind::kDebug);
  ASSERT_FALSE(row->places.empty());
  EXPECT_EQ(row->places[0].where.line, 42);
}

TEST(CompareCounters, AnotherCopyIsReportedWithItsLineAndFailsWhenStrict) {
  const Counters before = CountersOfText(Program());
  const Counters after = CountersOfText(Program("    op aten::clone 9us at=/src/train.cpp:48:Train\n"));
  const auto lenient = CompareCounters(before, after, {});
  ASSERT_TRUE(Find(lenient, "op aten::clone"));
  EXPECT_FALSE(lenient.fails());
  EXPECT_EQ(Find(lenient, "op aten::clone")->places.at(0).where.line, 48);
  EXPECT_TRUE(CompareCounters(before, after, {.strict = true}).fails());
}

TEST(CompareCounters, WhatDiffersBetweenTwoRunsIsIgnoredByName) {
  const Counters twice = Stable(
      CountersOfText(Program()),
      CountersOfText(
          Program("    op aten::item 2us at=/src/train.cpp:47:Train\n      op aten::_local_scalar_dense 1us\n")));
  EXPECT_TRUE(twice.unstable.contains("host reads"));
  const auto comparison = CompareCounters(
      twice,
      CountersOfText(
          Program("    op aten::item x9 2us at=/src/train.cpp:47:Train\n      op aten::_local_scalar_dense 1us\n")),
      {});
  EXPECT_FALSE(comparison.fails());
  ASSERT_TRUE(Find(comparison, "host reads"));
  EXPECT_EQ(Find(comparison, "host reads")->change, "ignored");
  EXPECT_THAT(Find(comparison, "host reads")->reason, HasSubstr("differs between two runs"));
}

TEST(CompareCounters, NewFindingsFailFromMediumOn) {
  const Counters none = CountersOfText(Program());
  const auto fails = [&](Severity severity, double cost_pct, CounterRules rules = {}) {
    return CompareCounters(none, CountersOfText(Program(kCopy), {Found(severity, cost_pct)}), rules).fails();
  };
  EXPECT_TRUE(fails(Severity::kMedium, 0)) << "a fact";
  EXPECT_TRUE(fails(Severity::kMedium, 12));
  EXPECT_FALSE(fails(Severity::kMedium, 6)) << "near the threshold of medium, noise may cross it";
  EXPECT_FALSE(fails(Severity::kLow, 0));
  EXPECT_FALSE(fails(Severity::kMedium, 12, {.strict = false, .same_machine = false}))
      << "a cost that was measured on another machine";
  EXPECT_TRUE(fails(Severity::kLow, 2, {.strict = true}));
}

TEST(CompareCounters, TheSameCallsThatCostMoreAreLeftToThePairs) {
  const Counters before = CountersOfText(Program(kCopy));
  const CounterComparison slow =
      CompareCounters(before, CountersOfText(Program(kCopy), {Found(Severity::kHigh, 50)}), {});
  EXPECT_FALSE(slow.fails()) << "a busy machine makes them slow as well";
  ASSERT_TRUE(Find(slow, "needless-copy")) << "named, not hidden";
  EXPECT_TRUE(CompareCounters(before, CountersOfText(Program(kCopy), {Found(Severity::kMedium, 0)}), {}).fails())
      << "a fact is no matter of speed";
}

TEST(CompareCounters, AFindingInAnotherFolderIsTheSame) {
  const Counters base = CountersOfText(Program(kCopy), {Found(Severity::kHigh, 30, "/base/src/train.cpp")});
  const Counters here = CountersOfText(Program(kCopy), {Found(Severity::kHigh, 30, "/here/src/train.cpp")});
  EXPECT_THAT(CompareCounters(base, here, {}).rows, IsEmpty());
}

TEST(CompareCounters, AFailureIsConfirmedByASecondLaunch) {
  const Counters before = CountersOfText(Program());
  const Counters once = CountersOfText(
      Program("    op aten::item 2us at=/src/train.cpp:47:Train\n      op aten::_local_scalar_dense 1us\n"));
  CounterComparison comparison = CompareCounters(before, once, {});
  Confirm(CompareCounters(before, once, {}), comparison);
  EXPECT_TRUE(comparison.fails());
  Confirm(CompareCounters(before, before, {}), comparison);
  EXPECT_FALSE(comparison.fails());
  EXPECT_THAT(Find(comparison, "host reads")->reason, HasSubstr("one of two launches only"));
}

TEST(CompareCounters, OtherWorkIsSaid) {
  EXPECT_EQ(OtherWork(CountersOfText(Program()), CountersOfText(Program())), "");
  EXPECT_THAT(OtherWork(CountersOfText(Program()), CountersOfText(Program("", 10, 64))),
              HasSubstr("64.0 samples per step instead of 32.0"));
  EXPECT_THAT(OtherWork(CountersOfText(Program()), CountersOfText(Program("", 7))), HasSubstr("7 steps were counted"));
}

class CounterFiles : public testing::Test {
 protected:
  std::filesystem::path Written(const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "counters.json";
    EXPECT_TRUE(WriteOutputFile(path, text));
    return path;
  }
  std::string Refused(const std::string& text) {
    const auto read = ReadCounterFile(Written(text));
    if (read) return "";
    EXPECT_EQ(read.error().exit_code, 2);
    EXPECT_THAT(read.error().Message(), HasSubstr("--accept"));
    return read.error().what;
  }
};

TEST_F(CounterFiles, SurviveARoundTrip) {
  Counters counters = CountersOfText(Program(kCopy), {Found(Severity::kMedium, 12)});
  counters.unstable = {"ops"};
  const CounterFile file{{"AMD EPYC", "2.11.0", "", 2, {}}, {{"./train", counters}}};
  const auto read = ReadCounterFile(Written(CounterFileText(file)));
  ASSERT_TRUE(read) << read.error().Message();
  EXPECT_EQ(CounterFileText(*read), CounterFileText(file));
  ASSERT_TRUE(read->Find("./train", false));
  EXPECT_FALSE(read->Find("./other", false));
  EXPECT_TRUE(read->Find("./other", true)) << "one is all there is on both sides";
  EXPECT_FALSE(CompareCounters(*read->Find("./train", true), counters, {.strict = true}).fails());
}

TEST_F(CounterFiles, WhatIsNoneIsRefused) {
  const std::string whole = CounterFileText({{}, {{"./train", CountersOfText(Program())}}});
  std::string newer = whole;
  newer.replace(newer.find("counters/1"), 10, "counters/2");
  EXPECT_THAT(Refused(newer), HasSubstr("its schema loopscope.counters/2 is not loopscope.counters/1"));
  EXPECT_THAT(Refused("{}"), HasSubstr("no recorded counters"));
  EXPECT_THAT(Refused(R"({"schema": "loopscope.report/1"})"), HasSubstr("no recorded counters"));
  for (std::size_t length = 0; length + 2 < whole.size(); length += 41) EXPECT_NE(Refused(whole.substr(0, length)), "");
  EXPECT_FALSE(ReadCounterFile("/no/such/file"));
}

TEST_F(CounterFiles, AnotherMachineIsNamed) {
  const Fingerprint recorded{"AMD EPYC", "2.11.0", "580.1", 2, {"NVIDIA H200"}};
  Fingerprint here = recorded;
  EXPECT_THAT(OtherMachine(recorded, here), IsEmpty());
  here.driver = "";
  EXPECT_THAT(OtherMachine(recorded, here), IsEmpty()) << "what is unknown differs from nothing";
  here.cpu = "Intel Xeon";
  EXPECT_THAT(OtherMachine(recorded, here), ElementsAre("CPU: recorded on AMD EPYC, here Intel Xeon"));
  EXPECT_THAT(OtherOperators(recorded, here), IsEmpty());
  here.gpus.clear();
  EXPECT_THAT(OtherOperators(recorded, here), ElementsAre("GPUs: recorded on NVIDIA H200, here none"));
  here.torch = "2.10.0";
  EXPECT_EQ(OtherOperators(recorded, here).size(), 2u);
}

// Traced launches in the order of the requests.
class ScriptedRecounts {
 public:
  std::vector<Counters> candidate, against;
  std::string asked;  // 'c' and 'a', in order

  Result<Counters> operator()(bool of_candidate) {
    std::vector<Counters>& from = of_candidate ? candidate : against;
    asked += of_candidate ? 'c' : 'a';
    if (from.empty()) return Error{"cannot be launched", "the command", "", 4};
    const Counters next = from.front();
    from.erase(from.begin());
    return next;
  }
};

TEST(CompareAndConfirm, LaunchesNothingMoreWhenNothingFails) {
  ScriptedRecounts recounts;
  const Counters same = CountersOfText(Program());
  const auto compared = CompareAndConfirm(same, same, {}, true, std::ref(recounts));
  ASSERT_TRUE(compared);
  EXPECT_FALSE(compared->fails());
  EXPECT_EQ(recounts.asked, "");
}

TEST(CompareAndConfirm, AFindingOfTheCandidateAloneFails) {
  const Counters before = CountersOfText(Program());
  const Counters after = CountersOfText(Program(kCopy), {Found(Severity::kHigh, 30)});
  ScriptedRecounts recounts{{after}, {before}, ""};
  const auto compared = CompareAndConfirm(before, after, {}, true, std::ref(recounts));
  ASSERT_TRUE(compared);
  EXPECT_TRUE(compared->fails());
  EXPECT_EQ(recounts.asked, "ca");
}

TEST(CompareAndConfirm, AFindingThatLoadBringsToBothDoesNotFail) {
  const Counters before = CountersOfText(Program());
  const Counters loaded = CountersOfText(Program(kCopy), {Found(Severity::kHigh, 30)});
  ScriptedRecounts recounts{{loaded}, {loaded}, ""};
  const auto compared = CompareAndConfirm(before, loaded, {}, true, std::ref(recounts));
  ASSERT_TRUE(compared);
  EXPECT_FALSE(compared->fails());
  EXPECT_EQ(recounts.asked, "ca");
  const CounterRow* row = Find(*compared, "needless-copy");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->change, "ignored") << "named, not hidden";
}

TEST(CompareAndConfirm, OneLaunchOfTheCandidateDoesNotFail) {
  const Counters before = CountersOfText(Program());
  const Counters after = CountersOfText(Program(kCopy), {Found(Severity::kHigh, 30)});
  ScriptedRecounts recounts{{before}, {}, ""};
  const auto compared = CompareAndConfirm(before, after, {}, true, std::ref(recounts));
  ASSERT_TRUE(compared);
  EXPECT_FALSE(compared->fails());
  EXPECT_EQ(recounts.asked, "c") << "the base is not launched for what the candidate does not repeat";
}

TEST(CompareAndConfirm, RecordedCountersHaveNoThirdLaunch) {
  const Counters before = CountersOfText(Program());
  const Counters after = CountersOfText(
      Program("    op aten::item 2us at=/src/train.cpp:45:Train\n      op aten::_local_scalar_dense 1us\n"));
  ScriptedRecounts recounts{{after}, {}, ""};
  const auto compared = CompareAndConfirm(before, after, {}, false, std::ref(recounts));
  ASSERT_TRUE(compared);
  EXPECT_TRUE(compared->fails());
  EXPECT_EQ(recounts.asked, "c");
  ScriptedRecounts broken;
  EXPECT_EQ(CompareAndConfirm(before, after, {}, true, std::ref(broken)).error().exit_code, 4);
}

TEST(CompareCounters, NewFindingsFailFromTheSeverityThatIsAsked) {
  const Counters before = CountersOfText(Program());
  const auto fails = [&](Severity severity, double cost_pct, Severity from) {
    return CompareCounters(before, CountersOfText(Program(kCopy), {Found(severity, cost_pct)}), {.fails_from = from})
        .fails();
  };
  EXPECT_TRUE(fails(Severity::kMedium, 12, Severity::kMedium));
  EXPECT_FALSE(fails(Severity::kMedium, 12, Severity::kHigh));
  EXPECT_FALSE(fails(Severity::kHigh, 30, Severity::kHigh)) << "too near to the threshold of high to be sure";
  EXPECT_TRUE(fails(Severity::kHigh, 45, Severity::kHigh));
  EXPECT_FALSE(fails(Severity::kLow, 3, Severity::kMedium));
  EXPECT_TRUE(fails(Severity::kLow, 3, Severity::kLow));
}

}  // namespace
}  // namespace loopscope
