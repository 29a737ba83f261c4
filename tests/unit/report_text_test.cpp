#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "profiler/core/printable.h"
#include "profiler/core/treatment.h"
#include "reports/formats.h"
#include "reports/words/reflow.h"
#include "reports/words/units.h"
#include "tests/support/sample_report.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

std::string Text(const Report& report, bool color = false, int columns = 80) {
  Output output;
  output.color = color;
  output.columns = columns;
  EXPECT_TRUE(FindFormat("text")->write(report, output).ok());
  return output.bytes;
}

std::size_t WidestLine(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, DisplayWidth(line));
  return widest;
}

std::string WithoutColor(std::string text) {
  for (std::size_t at; (at = text.find("\x1b[")) != text.npos;) text.erase(at, text.find('m', at) - at + 1);
  return text;
}

TEST(TextReport, IsAsInTheSample) {
  const auto golden = std::filesystem::path(__FILE__).parent_path().parent_path() / "data" / "sample_report.txt";
  std::ifstream file(golden);
  ASSERT_TRUE(file) << golden;
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(Text(test::SampleReport()), expected);
}

TEST(TextReport, IsColouredOnlyWhenAsked) {
  const std::string plain = Text(test::SampleReport()), colored = Text(test::SampleReport(), true);
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_THAT(colored, HasSubstr("\x1b["));
  EXPECT_EQ(WithoutColor(colored), plain);
}

TEST(TextReport, BeforeAnExperimentOffersIt) {
  Report report = test::SampleReport();
  report.trials.clear();
  report.combined.reset();
  const std::string text = Text(report);
  EXPECT_THAT(text, HasSubstr("  loopscope prove -- build/train --name 'it'\\''s a test'\n"));
  EXPECT_THAT(text, Not(HasSubstr("Measured")));
  EXPECT_THAT(text, Not(HasSubstr("CI")));
}

TEST(TextReport, OffersToMeasureLongerWhatIsLeftOpen) {
  Report report;
  report.run.command = {"train"};
  const auto tried = [&](std::string treatment, std::string value, std::string context, TrialVerdict verdict) {
    TrialRow& row = report.trials.emplace_back();
    row.treatment = std::move(treatment);
    row.value = std::move(value);
    row.context = std::move(context);
    row.verdict = verdict;
  };
  tried("batch.size", "64", "with-others", TrialVerdict::kInconclusive);
  tried("batch.size", "64", "alone", TrialVerdict::kInconclusive);
  tried("debug", "off", "alone", TrialVerdict::kEquivalent);
  tried("threads", "1", "alone", TrialVerdict::kInconclusive);
  const std::string_view only = "--only batch.size=64,threads=1 -- train";
  EXPECT_THAT(Text(report, false, 200), HasSubstr(only));
  report.target.emplace();
  EXPECT_THAT(Text(report, false, 200), Not(HasSubstr("--only"))) << "some are judged by the time to a target alone";
  report.target.reset();
  report.trials.resize(1);
  report.trials[0].treatment = kCommandB;
  EXPECT_THAT(Text(report, false, 200), Not(HasSubstr("--only"))) << "another command is no fix";
}

TEST(TextReport, WithoutStepsSaysSo) {
  Report report;
  report.run.command = {"true"};
  report.quality.warnings = {"no step could be measured: fewer than 3 steps"};
  const std::string text = Text(report);
  EXPECT_THAT(text, HasSubstr("No step could be measured"));
  EXPECT_THAT(text, HasSubstr("! no step could be measured: fewer than 3 steps"));
  EXPECT_THAT(text, HasSubstr("loopscope doctor"));
  report.run.exit_status = 1;
  EXPECT_THAT(Text(report), HasSubstr("The program ended with status 1 before a step could be measured"));
}

TEST(TextReport, AnotherToolsRecordingWithoutStepsIsNotRerun) {
  Report report = test::SampleReport();
  report.trials.clear();
  report.combined.reset();
  report.run.source = "nsys";
  EXPECT_THAT(Text(report), HasSubstr("loopscope prove"));
  report.steps.mean_ms.reset();
  EXPECT_THAT(Text(report), Not(HasSubstr("loopscope prove")));
  report.findings.clear();
  EXPECT_THAT(Text(report), Not(HasSubstr("loopscope doctor"))) << "it tells of this machine, not of that one";
}

TEST(TextReport, WhatSeveralRulesLackIsSaidOnce) {
  Report report;
  for (const char* id : {"a-rule", "b-rule", "c-rule"})
    report.rules.push_back({id, Verdict::kCannotTell, "it is dark"});
  report.rules.push_back({"d-rule", Verdict::kCannotTell, "it rains"});
  const std::string text = Text(report);
  EXPECT_THAT(text, HasSubstr("  Cannot tell (it is dark): a-rule, b-rule, c-rule\n"));
  EXPECT_THAT(text, HasSubstr("  d-rule                   cannot tell: it rains\n"));
}

TEST(TextReport, WithoutFindingsNamesTheLargestPart) {
  Report report = test::SampleReport();
  report.findings.clear();
  report.trials.clear();
  report.combined.reset();
  report.steps.mean_ms = 98.5;
  report.breakdown_ms[0] = 0;
  report.lines.clear();
  report.whole.reset();
  EXPECT_THAT(Text(report), HasSubstr("No known flaw was found: 97 % of the step is computing, 2.0 times\n"));
  report.headroom.reset();
  EXPECT_THAT(Text(report), HasSubstr("No known flaw was found: 97 % of the step is computing.\n"));
}

TEST(TextReport, OnePairOfCommandsIsTheHeadline) {
  Report report;
  report.trials = {test::SampleTrials()[0]};
  const std::string text = Text(report);
  EXPECT_THAT(text, HasSubstr("Measured   1.42x [1.37, 1.47], 95% CI: faster"));
  EXPECT_THAT(text, Not(HasSubstr("No step could be measured")));
  EXPECT_THAT(text, Not(HasSubstr("events")));
}

TEST(TextReport, AnUnknownLoaderIsSaid) {
  Report report = test::SampleReport();
  report.breakdown_ms[static_cast<int>(Part::kLoaderWait)].reset();
  EXPECT_THAT(Text(report), HasSubstr("loader wait             no loader seen"));
}

TEST(TextReport, MakesHostileTextInertAndKeepsItsWidth) {
  const std::string megabyte(1 << 20, 'x');
  for (const std::string& hostile :
       {std::string("\x1b[31m\x1b]0;title\x07"), std::string("a\nb\r\nc\td"), std::string("\xff\xfe\xc0\xaf"), megabyte,
        std::string("\xe2\x80\xae\xe2\x80\x8b\xc2\x9b 31m"), std::string("\0nul", 4),
        std::string("宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽宽"),
        std::string(300, ' ')}) {
    for (const int columns : {80, 40, 132, 0}) {
      const std::string text = Text(test::HostileReport(hostile), false, columns);
      EXPECT_LE(WidestLine(text), static_cast<std::size_t>(columns ? columns : 40)) << hostile.substr(0, 20);
      EXPECT_EQ(text.find_first_of(std::string_view("\x1b\x07\r\t\0", 5)), text.npos) << hostile.substr(0, 20);
      EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
      EXPECT_LT(text.size(), 200'000u);
    }
  }
}

TEST(TextReport, FitsTheTerminalWhateverItTells) {
  Report ranks = test::SampleReport();
  for (int rank = 0; rank < 30; ++rank) {
    RankRow row;
    row.rank = rank * 12345;
    row.input = "/data/" + std::string(300, 'r') + std::to_string(rank);
    row.mean_ms = row.own_ms = row.communication_exposed_ms = row.loader_wait_ms = 1e9 / (rank + 1);
    row.busy_pct = 99.9;
    row.shown = rank == 3;
    ranks.per_rank.push_back(row);
  }
  Report compared = test::SampleReport();
  compared.compare = test::SampleComparison();
  Report wide = test::SampleReport();
  wide.steps.mean_ms = wide.steps.p50_ms = wide.steps.p95_ms = 1.23456e8;
  wide.run.command.assign(40, "--an-option-of-a-script=/with/a/long/path");
  for (Finding& finding : wide.findings) {
    finding.evidence.assign(4, {"reads", 1, Where{"/home/ann/" + std::string(200, 'd') + "/loop.py", 120, "f"}});
  }
  for (TrialRow& trial : wide.trials) trial.applied = {{"t", std::string(200, 'p') + ".py:forward", "off", "on", 0}};
  for (const Report& report : {test::SampleReport(), Report(), ranks, compared, wide}) {
    for (const int columns : {80, 120}) EXPECT_LE(WidestLine(Text(report, false, columns)), std::size_t(columns));
  }
}

TEST(TextReport, BeginsWithWhatIsWorthMost) {
  Report report = test::SampleReport();
  EXPECT_THAT(Text(report),
              HasSubstr("n=6\n           - 1.42x [1.37, 1.47] by debug=off, loop.cpp:120 in TrainEpoch\n"));
  report.trials.clear();
  report.combined.reset();
  EXPECT_THAT(
      Text(report),
      HasSubstr("each 120 ms step.\n           - 18 % of a step: the loop waits 21.5 ms per step for its loader,\n"
                "             /opt/data/reader.cpp in Next\n           - 2.0 % of a step, outside of plain ones: "));
}

TEST(Reflow, FillsParagraphsAndItemsOnly) {
  EXPECT_EQ(Reflowed("# a heading that is longer than the line\n\none two\nthree four five\n", 20),
            "# a heading that is longer than the line\n\none two three four\nfive\n");
  EXPECT_EQ(Reflowed("- an item that\n  goes on and on\n- next\n", 20), "- an item that goes\n  on and on\n- next\n");
  EXPECT_EQ(Reflowed("1. first, at length, and more\n", 20), "1. first, at length,\n   and more\n");
  EXPECT_EQ(Reflowed("```\nlong  code stays as it is, always\n```\nx\ny\n", 20),
            "```\nlong  code stays as it is, always\n```\nx y\n");
  EXPECT_EQ(Reflowed("| a | b |\n|---|---|\n| 1 | 2 |\n", 20), "| a | b |\n|---|---|\n| 1 | 2 |\n");
  EXPECT_EQ(Reflowed("", 20), "");
}

TEST(Printable, ReplacesWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("plain é 宽"), "plain é 宽");
  EXPECT_EQ(Printable("a\nb\tc"), "a b c");
  EXPECT_EQ(Printable("\x1b[1m"), std::string(kReplacement) + "[1m");
  EXPECT_EQ(Printable("\xc2\x9b"), kReplacement);      // C1 control sequence introducer
  EXPECT_EQ(Printable("\xe2\x80\xae"), kReplacement);  // right-to-left override
  EXPECT_EQ(Printable("\xc0\x9b"), std::string(kReplacement) + std::string(kReplacement));  // overlong
  EXPECT_EQ(Printable("\xed\xa0\x80").substr(0, 3), kReplacement);                          // surrogate
  EXPECT_EQ(Printable("\xf4\x90\x80\x80").substr(0, 3), kReplacement);                      // past U+10FFFF
  EXPECT_EQ(Printable("\xe2\x82"), std::string(kReplacement) + std::string(kReplacement));  // cut short
}

TEST(Printable, CutsByColumns) {
  EXPECT_EQ(Printable("abcdef", 6), "abcdef");
  EXPECT_EQ(Printable("abcdefg", 6), "abcde…");
  EXPECT_EQ(Printable("宽宽宽宽", 6), "宽宽…");
  EXPECT_LE(DisplayWidth(Printable("a宽宽宽", 4)), 4u);
}

TEST(Wrap, BreaksAtSpacesAndInsideLongWordsOnly) {
  EXPECT_THAT(Wrap("the quick brown fox", 10), ElementsAre("the quick", "brown fox"));
  EXPECT_THAT(Wrap("abcdefghijkl mn", 8), ElementsAre("abcdefgh", "ijkl mn"));
  EXPECT_THAT(Wrap("  a   ", 8), ElementsAre("a"));
  EXPECT_THAT(Wrap("", 8), ElementsAre(""));
  EXPECT_THAT(Wrap("12345678 9", 8), ElementsAre("12345678", "9"));
}

TEST(ShellQuoted, ReadsBackAsTheSameWords) {
  EXPECT_EQ(ShellQuoted({"python", "train.py", "--lr=0.1"}), "python train.py --lr=0.1");
  EXPECT_EQ(ShellQuoted({"a b", "", "$HOME", "it's"}), "'a b' '' '$HOME' 'it'\\''s'");
}

TEST(Units, AreThoseThatPeopleRead) {
  EXPECT_EQ(HumanMs(12.345), "12.3 ms");
  EXPECT_EQ(HumanMs(0.0123), "12.3 µs");
  EXPECT_EQ(HumanMs(999.9), "1.00 s");
  EXPECT_EQ(HumanMs(90'000), "1.50 min");
  EXPECT_EQ(HumanMs(0), "0 ms");
  EXPECT_EQ(HumanMs(NAN), "?");
  EXPECT_EQ(HumanBytes(1.4e9), "1.40 GB");
  EXPECT_EQ(HumanBytes(512), "512 B");
  EXPECT_EQ(HumanCount(1'204'567), "1.20 M");
  EXPECT_EQ(HumanPct(8.74), "8.7 %");
  EXPECT_EQ(HumanPct(38.2), "38 %");
  EXPECT_EQ(HumanP(0.0004), "<0.001");
  EXPECT_EQ(HumanP(0.002), "0.002");
  EXPECT_EQ(HumanSpeedup(1.418, {{1.371, 1.469}}), "1.42x [1.37, 1.47]");
  EXPECT_EQ(HumanSpeedup(2, std::nullopt), "2.00x");
}

TEST(Units, RoundedPartsSumToTheRoundedSum) {
  const double thirds[] = {33.333, 33.333, 33.333};
  EXPECT_THAT(RoundedToSum(thirds, 1), ElementsAre("33.4", "33.3", "33.3"));
  const double halves[] = {0.05, 0.05, 0.9};
  EXPECT_THAT(RoundedToSum(halves, 1), ElementsAre("0.1", "0.0", "0.9"));
  EXPECT_THAT(RoundedToSum({}, 1), ElementsAre());
}

}  // namespace
}  // namespace loopscope
