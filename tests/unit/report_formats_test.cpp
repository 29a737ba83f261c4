// Every format there is, against the same reports: complete, empty, hostile. A new format is tested by being listed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include "profiler/core/printable.h"
#include "reports/formats.h"
#include "reports/words/escape.h"
#include "reports/words/wording.h"
#include "tests/support/sample_report.h"
#include "tests/support/sanitized.h"

namespace loopscope {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Written(std::string_view format, const Report& report) {
  Output output;
  const Result<void> written = FindFormat(format)->write(report, output);
  EXPECT_TRUE(written.ok()) << format;
  return output.bytes;
}

// A report holds it some two hundred times.
constexpr std::size_t kLong = test::kSanitized ? 1 << 14 : 1 << 18;

// Texts that a terminal, a browser, a Markdown or XML reader or a spreadsheet might interpret.
std::map<std::string, std::string> HostileTexts() {
  return {{"script", "</script><script>alert(1)</script><img src=x onerror=alert(1)>"},
          {"comment", "--><!-- ]]> <![CDATA["},
          {"ansi", "\x1b[31m\x1b]0;title\x07"},
          {"markdown", "a|b`c`**d** [x](http://e.example) ![y](z) <b>@ann #1 www.e.example"},
          {"lines", "a\nb\r\n# c\n\n| d |\n```\n~~~"},
          {"formula", "=cmd|' /C calc'!A0"},
          {"invalid", "\xff\xfe\xc0\xaf\xed\xa0\x80"},
          {"bidirectional", "\xe2\x80\xae\xe2\x80\x8b\xc2\x9b 31m"},
          {"nul", std::string("\0nul", 4)},
          {"quotes", "\"'&;\\"},
          {"long", std::string(kLong, 'x')}};
}

// Bytes in `text`, without line ends, that a terminal must not get: invalid UTF-8, controls, hidden or reversed text.
int Unprintable(const std::string& text) {
  const auto replaced = [](const std::string& in) {
    int count = 0;
    for (std::size_t at = 0; (at = in.find("\xef\xbf\xbd", at)) != in.npos; at += 3) ++count;
    return count;
  };
  return replaced(Printable(text, text.size() + 1)) - replaced(text);
}

std::string Controls(const std::string& text) {
  std::string found;
  for (const char byte : text) {
    if ((static_cast<unsigned char>(byte) < 0x20 && byte != '\n') || byte == 0x7f) found += byte;
  }
  return found;
}

// A page without the library that every page contains: that is checked once, in a page without hostile
// texts.
std::string WithoutLibrary(std::string text) {
  const std::size_t begin = text.find("Chart.js");
  if (begin == text.npos) return text;
  return text.erase(begin, text.find("</script>", begin) - begin);
}

// The formats that are one text; the tables of a folder have tests of their own.
std::vector<const Format*> TextFormats() {
  std::vector<const Format*> formats;
  std::ranges::copy_if(AllFormats(), std::back_inserter(formats), [](const Format* one) { return !one->folder; });
  return formats;
}

class EveryFormat : public testing::TestWithParam<const Format*> {};

TEST_P(EveryFormat, WritesACompleteAndAnEmptyReport) {
  const std::string sample = Written(GetParam()->id, test::SampleReport());
  EXPECT_THAT(sample, HasSubstr(GetParam()->id == "csv" ? "grad.set_to_none" : "anomaly"));
  EXPECT_EQ(sample.back(), '\n');
  EXPECT_EQ(Controls(sample), "");
  EXPECT_EQ(Unprintable(sample), 0);
  EXPECT_FALSE(Written(GetParam()->id, Report()).empty());
}

TEST_P(EveryFormat, NumbersThatAreNotFiniteAreNotWritten) {
  Report report = test::SampleReport();
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  report.steps.mean_ms = report.breakdown_ms[0] = nan;
  report.findings[0].cost_ms_per_step = report.findings[0].cost_pct = infinity;
  report.trials[0].speedup = nan;
  report.trials[0].ci95 = {nan, infinity};
  std::string text = Written(GetParam()->id, report);
  text.resize(std::min(text.size(), text.find("Chart.js")));  // what comes before the library in the page
  for (const char* word : {": nan", ": inf", "nanx", ",nan", ",inf", "[nan", "inf ms", "inf %"}) {
    EXPECT_THAT(text, Not(HasSubstr(word)));
  }
}

TEST_P(EveryFormat, HostileTextIsInert) {
  for (auto [name, hostile] : HostileTexts()) {
    if (GetParam()->id == "json") hostile.resize(std::min(hostile.size(), std::size_t{4096}));  // carries texts whole
    std::string text;
    for (const auto& make :
         {test::HostileReport, test::HostileComparison, test::HostileGate, test::HostileSweep, test::HostileTarget}) {
      text += WithoutLibrary(Written(GetParam()->id, make(hostile)));
    }
    EXPECT_EQ(Controls(text), "") << name;
    if (GetParam()->id == "json") continue;  // carries texts as they are
    EXPECT_EQ(Unprintable(text), 0) << name;
    EXPECT_LT(text.size(), GetParam()->id == "html" ? 1'500'000u : 700'000u) << name;
    if (GetParam()->id != "html" && GetParam()->id != "junit") continue;  // the others are not markup, or are rendered
    EXPECT_THAT(text, Not(HasSubstr("<script>alert"))) << name;
    EXPECT_THAT(text, Not(HasSubstr("<img src=x"))) << name;
    EXPECT_THAT(text, Not(HasSubstr("--><!-- ]]>"))) << name;
  }
}

// Writes to $REPORT_SAMPLES_DIR, for readers of these formats that are not ours: <format>/<report>.
TEST_P(EveryFormat, WritesSamples) {
  const char* folder = std::getenv("REPORT_SAMPLES_DIR");
  if (folder == nullptr) GTEST_SKIP() << "no REPORT_SAMPLES_DIR";
  std::map<std::string, Report> reports = {{"sample", test::SampleReport()}, {"empty", Report()}};
  reports["comparison"] = test::SampleReport();
  reports["comparison"].compare = test::SampleComparison();
  reports["gate"] = test::SampleReport();
  reports["gate"].gate = test::SampleGate();
  reports["sweep"] = test::SampleReport();
  reports["sweep"].sweep = test::SampleSweep();
  reports["target"] = test::SampleReport();
  reports["target"].target = test::SampleTarget();
  for (const auto& [name, hostile] : HostileTexts()) {
    if (GetParam()->id == "json" && name == "long") continue;  // carries texts whole
    reports["hostile_target_" + name] = test::HostileTarget(hostile);
    reports["hostile_sweep_" + name] = test::HostileSweep(hostile);
    reports["hostile_gate_" + name] = test::HostileGate(hostile);
    reports["hostile_" + name] = test::HostileReport(hostile);
    reports["hostile_comparison_" + name] = test::HostileComparison(hostile);
  }
  const std::filesystem::path into = std::filesystem::path(folder) / GetParam()->id;
  std::filesystem::create_directories(into);
  for (const auto& [name, report] : reports) {
    std::ofstream(into / name, std::ios::binary) << Written(GetParam()->id, report);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat, testing::ValuesIn(TextFormats()),
                         [](const auto& format) { return std::string(format.param->id); });

TEST(MarkdownReport, StaysBelowTheLimitOfAComment) {
  Report report = test::HostileReport(std::string(400, '|'));
  for (int doubling = 0; doubling < 8; ++doubling) {
    const std::vector<Finding> findings = report.findings;
    const std::vector<TrialRow> trials = report.trials;
    report.findings.insert(report.findings.end(), findings.begin(), findings.end());
    report.trials.insert(report.trials.end(), trials.begin(), trials.end());
  }
  const std::string text = Written("markdown", report);
  EXPECT_LT(text.size(), 65'000u);
  EXPECT_GT(text.size(), 30'000u);
  EXPECT_THAT(text, HasSubstr("more trials, in the JSON"));
  EXPECT_THAT(text, testing::EndsWith("</details>\n"));
}

TEST(MarkdownReport, ShowsTheChangeInTheProgramsLanguage) {
  Report report = test::SampleReport();
  EXPECT_THAT(
      Written("markdown", report),
      HasSubstr("```diff\n- AnomalyMode::set_enabled(true);\n+ AnomalyMode::set_enabled(options.debug);\n```\n"));
  report.run.command = {"/usr/bin/python3.11", "train.py"};
  EXPECT_THAT(Written("markdown", report), HasSubstr("- set_detect_anomaly(True)\n+ set_detect_anomaly(args.debug)\n"));
}

TEST(TextReport, OfTwoRunsTellsWhatChanged) {
  Report report = test::SampleReport();
  report.compare = test::SampleComparison();
  const std::string text = Written("text", report);
  EXPECT_THAT(text, HasSubstr("was 100 ms, is 120 ms: +20 %"));
  EXPECT_THAT(text, HasSubstr("! another batch size: 32 against 64 samples per step"));
  EXPECT_THAT(text, HasSubstr("slower     20.5 ms ->   32.2 ms"));
  EXPECT_THAT(text, HasSubstr("sgemm_128x64 (GPU), 0 -> 3 times"));
  EXPECT_THAT(text, HasSubstr("  + debug-left-on: anomaly detection"));
  EXPECT_THAT(text, HasSubstr("loopscope ab"));
}

Report OfAGate() {
  Report report = test::SampleReport();
  report.gate = test::SampleGate();
  return report;
}

TEST(TextReport, OfAGateTellsTheVerdictAndWhy) {
  const std::string text = Written("text", OfAGate());
  EXPECT_THAT(text, HasSubstr("FAIL: slower by 8.0 %"));
  EXPECT_THAT(text, HasSubstr("1 of 2 workloads"));
  EXPECT_THAT(text, HasSubstr("9 pairs, 2.3 % noise: 4 of 5 gates find a slowdown of 3.2 %"));
  EXPECT_THAT(text, HasSubstr("x host reads: 1 -> 2 per step: a new synchronising call"));
  EXPECT_THAT(text, HasSubstr("loop.cpp:131 in TrainEpoch: 0 -> 1 per step"));
  EXPECT_THAT(text, HasSubstr("not compared: its launches under tracing ended early"));
  EXPECT_THAT(text, Not(HasSubstr("What slows it")));
}

TEST(MarkdownReport, OfAGateIsAComment) {
  const std::string text = Written("markdown", OfAGate());
  EXPECT_THAT(text, testing::StartsWith("## ❌ Loopscope gate: FAIL&#58; slower by 8"));
  EXPECT_THAT(text, HasSubstr("| ❌ | host reads&#58; 1 -&gt; 2 per step"));
  EXPECT_THAT(text, HasSubstr("loop.cpp"));
}

TEST(JunitReport, OfAGateHasItsCasesAlone) {
  const std::string text = Written("junit", OfAGate());
  EXPECT_THAT(text, HasSubstr("<testsuites name=\"loopscope\" tests=\"4\" failures=\"2\" errors=\"0\""));
  EXPECT_THAT(text, HasSubstr("<failure type=\"slower\""));
  EXPECT_THAT(text, HasSubstr("<failure type=\"sync\" message=\"host reads"));
  EXPECT_THAT(text, Not(HasSubstr("loopscope.rules")));
}

TEST(SarifReport, OfAGateHoldsWhatMadeItFail) {
  const std::string text = Written("sarif", OfAGate());
  EXPECT_THAT(text, HasSubstr("\"ruleId\": \"gate-time\""));
  EXPECT_THAT(text, HasSubstr("\"ruleId\": \"gate-sync\""));
  EXPECT_THAT(text, HasSubstr("\"startLine\": 131"));
  EXPECT_THAT(text, Not(HasSubstr("op aten::add")));
  EXPECT_THAT(text, Not(HasSubstr("\"startLine\": 120"))) << "findings that were there before are no news";
}

TEST(SarifReport, PointsAtTheLineInsideTheProject) {
  const std::string text = Written("sarif", test::SampleReport());
  EXPECT_THAT(text, HasSubstr("\"uri\": \"loop.cpp\""));
  EXPECT_THAT(text, HasSubstr("\"startLine\": 120"));
  EXPECT_THAT(text, HasSubstr("\"uri\": \"file:///opt/data/reader.cpp\""));
  EXPECT_THAT(text, HasSubstr("\"uri\": \"file:///home/ann/train/\""));
  EXPECT_THAT(text, HasSubstr("\"level\": \"error\""));
}

TEST(JunitReport, CountsWhatItHolds) {
  const std::string text = Written("junit", test::SampleReport());
  EXPECT_THAT(text, HasSubstr("<testsuites name=\"loopscope\" tests=\"8\" failures=\"1\" errors=\"0\""));
  EXPECT_THAT(text, HasSubstr("<failure type=\"high\" message=\"anomaly detection is on in all 50 steps\">"));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"cannot tell: no memory marks in the window\">"));
}

TEST(CsvReport, HasALineForEachTrial) {
  const std::string text = Written("csv", test::SampleReport());
  EXPECT_EQ(std::ranges::count(text, '\n'), 5);
  EXPECT_THAT(text, HasSubstr("\ndebug,off,with-others,step-time,debug-left-on,1.42,1.37,1.47,12,0.0005,0.002,exact,"
                              "faster,,exact,bit-identical,1,1500000000,1420000000,\n"));
  EXPECT_THAT(text, HasSubstr("\namp,bf16,with-others,step-time,,,,,0,,,,not-applicable,this CPU"));
}

TEST(Escape, MakesTextInert) {
  EXPECT_EQ(XmlText("<a b='c'>&\"\x1b"), "&lt;a b=&#39;c&#39;&gt;&amp;&quot;\xef\xbf\xbd");
  EXPECT_EQ(MarkdownText("a|b*c*"), "a\\|b\\*c\\*");
  EXPECT_EQ(MarkdownText("http://www.x"), "http&#58;//www&#46;x");
  EXPECT_EQ(CsvText("a \"b\", c"), "\"a \"\"b\"\", c\"");
  EXPECT_EQ(CsvText("=1+1"), "\"'=1+1\"");
  EXPECT_EQ(CsvText("plain"), "plain");
  EXPECT_EQ(UriPath("/a b/\xc3\xa9%"), "/a%20b/%C3%A9%25");
}

}  // namespace
}  // namespace loopscope
