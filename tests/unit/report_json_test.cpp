#include "reports/json/report_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "reports/formats.h"
#include "tests/support/sample_report.h"
#include "tests/support/sanitized.h"

namespace loopscope {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Written(const Report& report) {
  Output output;
  EXPECT_TRUE(FindFormat("json")->write(report, output).ok());
  return output.bytes;
}

std::string ErrorOf(std::string_view text) {
  const Result<Report> report = ReadReportJson(text);
  return report.ok() ? "" : report.error().Message();
}

Report EmptyReport() {
  return {};
}

Report NotFiniteReport() {
  Report report = test::SampleReport();
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  report.steps.mean_ms = nan;
  report.breakdown_ms.fill(infinity);
  report.findings[0].cost_ms_per_step = nan;
  report.trials[0].speedup = infinity;
  report.trials[0].ci95 = {nan, infinity};
  report.trials[0].loss.baseline = {1.0, nan};
  return report;
}

TEST(ReportJson, SurvivesARoundTrip) {
  const std::string first = Written(test::SampleReport());
  const Result<Report> read = ReadReportJson(first);
  ASSERT_TRUE(read.ok()) << read.error().Message();
  EXPECT_EQ(Written(*read), first);
  EXPECT_EQ(read->run.command.back(), "it's a test");
  EXPECT_EQ(read->findings[0].evidence[0].where->path, "loop.cpp");
  EXPECT_EQ(read->trials[1].applied[1].flags, wire::kAppliedLost);
  EXPECT_DOUBLE_EQ((*read->combined->ci95)[1], 2.55);
  EXPECT_EQ(read->timeline, nullptr);
}

Report SweepReport() {
  Report report = test::SampleReport();
  report.sweep = test::SampleSweep();
  report.target = test::SampleTarget();
  return report;
}

TEST(ReportJson, ASweepAndATargetSurviveARoundTrip) {
  const std::string first = Written(SweepReport());
  const Result<Report> read = ReadReportJson(first);
  ASSERT_TRUE(read.ok()) << read.error().Message();
  EXPECT_EQ(Written(*read), first);
  ASSERT_TRUE(read->sweep && read->target);
  EXPECT_EQ(read->sweep->cells[3].verdict, CellVerdict::kFailed);
  EXPECT_EQ(read->sweep->best, 2);
  EXPECT_FALSE(read->target->arms[0].runs[1].reached);
  EXPECT_FALSE(read->target->comparisons[0].seconds.high) << "an open end stays open";
}

TEST(ReportJson, ASweepThatNamesACellItHasNotIsRefused) {
  Report report = SweepReport();
  report.sweep->best = 99;
  EXPECT_THAT(ErrorOf(Written(report)), HasSubstr("a cell which it has not"));
}

TEST(ReportJson, AComparisonSurvivesARoundTrip) {
  Report report = test::SampleReport();
  report.compare = test::SampleComparison();
  const std::string first = Written(report);
  const Result<Report> read = ReadReportJson(first);
  ASSERT_TRUE(read.ok()) << read.error().Message();
  EXPECT_EQ(Written(*read), first);
  EXPECT_EQ(read->compare->ops[1].name, "sgemm_128x64");
  EXPECT_TRUE(read->compare->ops[1].device);
  EXPECT_THAT(ErrorOf(R"({"schema": "loopscope.report/1", "compare": {"ops": [{"name": 3}]}})"),
              HasSubstr("/compare/ops/0/name"));
}

TEST(ReportJson, AGateSurvivesARoundTrip) {
  Report report = test::SampleReport();
  report.gate = test::SampleGate();
  const std::string first = Written(report);
  const Result<Report> read = ReadReportJson(first);
  ASSERT_TRUE(read.ok()) << read.error().Message();
  EXPECT_EQ(Written(*read), first);
  EXPECT_EQ(DecidingRow(*read->gate).verdict, GateVerdict::kFail);
  EXPECT_EQ(DecidingRow(*read->gate).counters[0].places[0].where.line, 131);
  EXPECT_EQ(DecidingRow(*read->gate).launches[1].ms_per_step, std::nullopt);
  EXPECT_THAT(ErrorOf(R"({"schema": "loopscope.report/1", "gate": {"workloads": [{"command": 3}]}})"),
              HasSubstr("/gate/workloads/0/command"));
  EXPECT_THAT(ErrorOf(R"({"schema": "loopscope.report/1", "gate": {}})"), HasSubstr("without a workload"));
}

TEST(ReportJson, KeepsUnknownNumbersUnknown) {
  const std::string text = Written(EmptyReport());
  EXPECT_THAT(text, HasSubstr("\"mean_ms\": null"));
  EXPECT_THAT(text, HasSubstr("\"probe_cost_pct\": null"));
  EXPECT_THAT(text, HasSubstr("\"cores\": null"));
  EXPECT_THAT(text, HasSubstr("\"combined\": null"));
  const Result<Report> read = ReadReportJson(text);
  ASSERT_TRUE(read.ok()) << read.error().Message();
  EXPECT_EQ(read->steps.mean_ms, std::nullopt);
  EXPECT_EQ(read->quality.probe_cost_pct, -1);
  EXPECT_EQ(read->run.exit_status, -1);
}

TEST(ReportJson, WritesNoNumberThatIsNotFinite) {
  const std::string text = Written(NotFiniteReport());
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("inf,")));
  const Result<Report> read = ReadReportJson(text);
  ASSERT_TRUE(read.ok()) << read.error().Message();
  EXPECT_EQ(read->trials[0].ci95, std::nullopt);
  EXPECT_TRUE(std::isnan(read->trials[0].loss.baseline[1]));
}

TEST(ReportJson, ReplacesInvalidUtf8) {
  const std::string text = Written(test::HostileReport("a\xff\x1b[31mb\xc0"));
  EXPECT_THAT(text, HasSubstr("a\xef\xbf\xbd\\u001b[31mb\xef\xbf\xbd"));
  EXPECT_EQ(ErrorOf(text), "");
}

TEST(ReportJson, RefusesANewerSchemaByName) {
  std::string text = Written(test::SampleReport());
  text.replace(text.find("loopscope.report/1"), 18, "loopscope.report/2");
  EXPECT_THAT(ErrorOf(text), HasSubstr("loopscope.report/2 is newer than loopscope.report/1"));
}

TEST(ReportJson, ReadsAnOlderSchemaWithoutTheFieldsItLacked) {
  const Result<Report> read = ReadReportJson(R"({"schema": "loopscope.report/0", "steps": {"mean_ms": 4}, "new": 1})");
  ASSERT_TRUE(read.ok()) << read.error().Message();
  EXPECT_EQ(read->steps.mean_ms, 4);
  EXPECT_EQ(read->steps.p95_ms, std::nullopt);
}

TEST(ReportJson, SaysWhatIsNoReport) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("not JSON"));
  EXPECT_THAT(ErrorOf("[1, 2]"), HasSubstr("not a Loopscope report"));
  EXPECT_THAT(ErrorOf(R"({"schema": "other/1"})"), HasSubstr("not a Loopscope report"));
  EXPECT_THAT(ErrorOf(R"({"schema": "loopscope.report/99999999999999999999"})"), HasSubstr("is newer"));
}

TEST(ReportJson, NamesTheFieldThatIsWrong) {
  const auto with = [](std::string_view field) {
    return ErrorOf("{\"schema\": \"loopscope.report/1\", " + std::string(field) + "}");
  };
  EXPECT_THAT(with(R"("steps": {"mean_ms": "fast"})"), HasSubstr("/steps/mean_ms"));
  EXPECT_THAT(with(R"("findings": [{"severity": "dreadful"}])"), HasSubstr("\"dreadful\" is not a known severity"));
  EXPECT_THAT(with(R"("rules": 7)"), HasSubstr("/rules"));
  EXPECT_THAT(with(R"("trials": [{"ci95": [1]}])"), HasSubstr("/trials/0/ci95"));
  EXPECT_THAT(with(R"("steps": [])"), HasSubstr("/steps"));
}

TEST(ReportJson, ClampsWholeNumbersThatAreTooLarge) {
  const Result<Report> read = ReadReportJson(
      R"({"schema": "loopscope.report/1", "steps": {"warmup": 1e300, "measured": 99999999999999}, "run": {"rank": -1e300}})");
  ASSERT_TRUE(read.ok()) << read.error().Message();
  EXPECT_EQ(read->steps.warmup, std::numeric_limits<int>::max());
  EXPECT_EQ(read->steps.measured, std::numeric_limits<int>::max());
  EXPECT_EQ(read->run.rank, std::numeric_limits<int>::min());
}

TEST(ReportJson, ACutFileIsAnErrorAtEveryLength) {
  std::string text = Written(test::SampleReport());
  text.resize(text.find_last_of('}'));
  for (std::size_t length = 0; length < text.size(); length += test::kSanitized ? 61 : 7) {
    EXPECT_NE(ErrorOf(std::string_view(text).substr(0, length)), "") << length;
  }
}

// Neither clear nor found: a rule's verdict must not be made up.
TEST(ReportJson, AMissingVerdictIsAnError) {
  EXPECT_THAT(ErrorOf(R"({"schema": "loopscope.report/1", "rules": [{"id": "host-sync"}]})"), HasSubstr("verdict"));
  EXPECT_THAT(ErrorOf(R"({"schema": "loopscope.report/1", "plan": [null]})"), HasSubstr("/plan/0"));
}

TEST(ReportJson, DeepNestingIsNoCrash) {
  EXPECT_THAT(ErrorOf(std::string(test::kSanitized ? 100'000 : 1'000'000, '[')), HasSubstr("not JSON"));
}

// tests/e2e/test_schema.py checks these against reports/schema.json.
TEST(ReportJson, WritesSamples) {
  const char* folder = std::getenv("REPORT_SAMPLES_DIR");
  if (folder == nullptr) GTEST_SKIP() << "REPORT_SAMPLES_DIR is not set";
  const auto write = [&](const char* name, const Report& report) {
    std::ofstream(std::filesystem::path(folder) / name) << Written(report);
    ASSERT_TRUE(std::filesystem::exists(std::filesystem::path(folder) / name));
  };
  write("sample.json", test::SampleReport());
  Report comparison = test::SampleReport();
  comparison.compare = test::SampleComparison();
  write("comparison.json", comparison);
  Report gate = test::SampleReport();
  gate.gate = test::SampleGate();
  write("gate.json", gate);
  write("sweep.json", SweepReport());
  write("empty.json", EmptyReport());
  write("not_finite.json", NotFiniteReport());
}

}  // namespace
}  // namespace loopscope
