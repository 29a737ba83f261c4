#include "profiler/core/report/expected_gain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzers/analyzers.h"
#include "analyzers/diagnose/attribution.h"
#include "analyzers/diagnose/diagnose.h"
#include "profiler/core/report/headline.h"
#include "reports/formats.h"
#include "reports/words/finding_wording.h"
#include "tests/support/sample_report.h"

namespace loopscope {
namespace {

using testing::HasSubstr;
using testing::Not;

// In a step of 100 ms.
Finding Costing(const char* rule, double ms, CostKind kind, Severity severity = Severity::kMedium) {
  Finding finding = test::SampleFinding(rule, rule, severity, ms, ms);
  finding.cost_is = kind;
  return finding;
}

TEST(ExpectedGain, OfABoundIsAShareOfIt) {
  const ExpectedGain bound = ExpectedGainOf(Costing("unread-gradients", 40, CostKind::kBound));
  EXPECT_DOUBLE_EQ(bound.ms, 20);
  EXPECT_DOUBLE_EQ(bound.low_ms, 0);
  EXPECT_DOUBLE_EQ(bound.high_ms, 40);
  EXPECT_EQ(bound.basis, GainBasis::kLikely);
  const ExpectedGain exact = ExpectedGainOf(Costing("host-code", 90, CostKind::kExact));
  EXPECT_DOUBLE_EQ(exact.ms, 90);
  EXPECT_LT(exact.low_ms, exact.ms);
  EXPECT_DOUBLE_EQ(exact.high_ms, 100);
  Finding measured = Costing("fp32-compute", 50, CostKind::kBound);
  measured.expected_gain_ms = 10;
  EXPECT_DOUBLE_EQ(ExpectedGainOf(measured).ms, 10);
  EXPECT_EQ(ExpectedGainOf(measured).basis, GainBasis::kMeasured);
  EXPECT_FALSE(ExpectedGainPctOf(Costing("host-sync", 0, CostKind::kExact)));
}

TEST(ExpectedGain, OrdersFindings) {
  const Finding exact = Costing("input-starvation", 6, CostKind::kExact, Severity::kMedium);
  const Finding bound = Costing("unread-gradients", 37, CostKind::kBound, Severity::kMedium);
  EXPECT_TRUE(GainsMore(bound, exact));
  EXPECT_FALSE(GainsMore(exact, bound));
  const Finding info = Costing("gpu-starvation", 80, CostKind::kExact, Severity::kInfo);
  EXPECT_TRUE(GainsMore(exact, info));
  const Finding fact = Costing("graph-retained", 0, CostKind::kExact, Severity::kMedium);
  EXPECT_TRUE(GainsMore(exact, fact));
  EXPECT_TRUE(GainsMore(fact, Costing("grads-zeroed", 2, CostKind::kExact, Severity::kLow)));
}

TEST(ExpectedGain, LeadsTheHeadline) {
  Report report;
  report.steps.mean_ms = 100;
  report.findings = {Costing("input-starvation", 6, CostKind::kExact),
                     Costing("unread-gradients", 37, CostKind::kBound)};
  EXPECT_EQ(HeadlineOf(report).finding->rule, "unread-gradients");
  report.findings[1].cost_ms_per_step = report.findings[1].cost_pct = 10;
  EXPECT_EQ(HeadlineOf(report).finding->rule, "input-starvation");
}

// The findings of these rules, after what one says is taken from the other.
std::vector<std::vector<Finding>> Once(std::initializer_list<std::pair<const char*, Finding>> found) {
  const auto analyzers = AllAnalyzers();
  std::vector<std::vector<Finding>> findings(analyzers.size());
  for (const auto& [id, finding] : found) {
    for (std::size_t i = 0; i < analyzers.size(); ++i) {
      if (analyzers[i]->id == id) findings[i] = {finding};
    }
  }
  Attribute(findings);
  return findings;
}

const Finding& Of(const std::vector<std::vector<Finding>>& findings, std::string_view id) {
  const auto analyzers = AllAnalyzers();
  for (std::size_t i = 0; i < analyzers.size(); ++i) {
    if (analyzers[i]->id == id) return findings[i].front();
  }
  static const Finding none;
  return none;
}

TEST(Attribute, ALargeTableIsMostOfWhatTheOptimizerUpdates) {
  Finding table = Costing("dense-embedding", 70, CostKind::kBound);
  table.claims = {{.of = Time::kOptimizer, .ms = 60}};
  const Finding adam = Costing("single-tensor-optimizer", 64, CostKind::kBound, Severity::kHigh);
  const auto both = Once({{"dense-embedding", table}, {"single-tensor-optimizer", adam}});
  const Finding& left = Of(both, "single-tensor-optimizer");
  EXPECT_NEAR(left.cost_ms_per_step, 4, 1e-9);
  EXPECT_EQ(left.severity, Severity::kLow);
  EXPECT_THAT(left.title, HasSubstr("60.0 ms of it is in dense-embedding"));
  table.claims = {{.of = Time::kOptimizer, .ms = 10}};
  const auto small = Once({{"dense-embedding", table}, {"single-tensor-optimizer", adam}});
  EXPECT_DOUBLE_EQ(Of(small, "single-tensor-optimizer").cost_ms_per_step, 64);
}

// Waits at any line are in the optimizer's times too: its bound of 52 ms is likely worth 31, of which 17 may be waits.
TEST(Attribute, WaitsAtAnyLinePutABoundInDoubtByWhatItIsWorth) {
  Finding waits = Costing("gil-contention", 17, CostKind::kBound);
  waits.expected_gain_ms = 17;
  waits.claims = {{Time::kAnyLine}};
  Finding adam = Costing("single-tensor-optimizer", 52, CostKind::kBound, Severity::kHigh);
  adam.usual_share = 0.6;
  adam.claims = {{Time::kAnyLine, Standing::kDoubted}};
  const auto doubted = Once({{"gil-contention", waits}, {"single-tensor-optimizer", adam}});
  EXPECT_EQ(Of(doubted, "single-tensor-optimizer").verdict, Verdict::kCannotTell);
  waits.expected_gain_ms = 12;
  const auto small = Once({{"gil-contention", waits}, {"single-tensor-optimizer", adam}});
  EXPECT_EQ(Of(small, "single-tensor-optimizer").verdict, Verdict::kFound);
}

TEST(Attribute, AGrowingStepIsToldWithItsCause) {
  Finding kept = Costing("graph-retained", 0, CostKind::kExact);
  kept.title = "a sum keeps every step's graph alive";
  kept.evidence = {{"adds to a sum", 3, Where{"train.py", 12, "train"}}};
  Finding growing = Costing("growing-step", 30, CostKind::kExact, Severity::kHigh);
  growing.title = "steps get longer: from 3 ms to 9 ms";
  growing.evidence = {{"AddBackward0", 1, Where{"train.py", 20, "train"}}};
  growing.claims = {{Time::kGrowth, Standing::kGivesWay}};
  const auto both = Once({{"graph-retained", kept}, {"growing-step", growing}});
  EXPECT_EQ(Of(both, "graph-retained").title,
            "a sum keeps every step's graph alive; steps get longer: from 3 ms to 9 ms");
  EXPECT_DOUBLE_EQ(Of(both, "graph-retained").cost_ms_per_step, 30);
  EXPECT_EQ(Of(both, "graph-retained").evidence.front().where->line, 12);
  EXPECT_EQ(Of(both, "growing-step").verdict, Verdict::kNotApplicable);
  growing.claims = {};  // more is computed in the forward pass: another cause
  const auto apart = Once({{"graph-retained", kept}, {"growing-step", growing}});
  EXPECT_EQ(Of(apart, "growing-step").verdict, Verdict::kFound);
}

TEST(Callers, OfAPackagesLineAreTheProgramsOwn) {
  Trace trace;
  trace.run.working_directory = "/home/ann/ode";
  const Where step{"/home/ann/ode/solver/steps.py", 80, "step"}, own{"/home/ann/ode/train.py", 12, "main"};
  trace.stacks = {Stack{{step, {"/home/ann/ode/solver/api.py", 7, "solve"}, own}}, Stack{{own}}};
  EXPECT_EQ(CalledAt(trace, step), own);
  EXPECT_EQ(CalledAt(trace, own), std::nullopt);
}

TEST(Callers, StandBesideTheLineInTheReport) {
  Report report = test::SampleReport();
  report.run.working_directory = "/home/ann/ode";
  Evidence place{"22 rows", 1, Where{"/usr/lib/python3/site-packages/solver/steps.py", 80, "step"}};
  place.called_at = Where{"/home/ann/ode/train.py", 12, "main"};
  report.findings.front().evidence = {place};
  Output output;
  output.columns = 400;
  ASSERT_TRUE(FindFormat("text")->write(report, output).ok());
  EXPECT_THAT(output.bytes, HasSubstr("at solver/steps.py:80 in step, called at train.py:12 in main"));
}

TrialRow Trial(const char* context, std::optional<double> speedup) {
  TrialRow trial;
  trial.treatment = "optimizer.impl";
  trial.value = "fused";
  trial.context = context;
  trial.speedup = speedup;
  return trial;
}

TEST(TrialEntries, HaveEachFixOnce) {
  Report report;
  report.trials = {Trial("with-others", std::nullopt), Trial("alone", 1.2)};
  ASSERT_EQ(TrialEntries(report).size(), 1);
  EXPECT_EQ(TrialEntries(report)[0].shown, 1);
  EXPECT_EQ(TrialEntries(report)[0].other, "");
  report.trials = {Trial("alone", 1.2), Trial("with-others", 1.3)};
  ASSERT_EQ(TrialEntries(report).size(), 1);
  EXPECT_EQ(TrialEntries(report)[0].shown, 1);
  EXPECT_THAT(TrialEntries(report)[0].other, HasSubstr("alone 1.2"));
  for (const char* format : {"text", "markdown"}) {
    Output output;
    output.columns = 400;
    ASSERT_TRUE(FindFormat(format)->write(report, output).ok());
    const std::size_t first = output.bytes.find("optimizer.impl=fused");
    ASSERT_NE(first, std::string::npos) << format;
    EXPECT_EQ(output.bytes.find("optimizer.impl=fused", first + 1), std::string::npos) << format;
  }
}

TEST(FactsWithoutACost, AreOneLineAtTheEnd) {
  Report report;
  report.steps.mean_ms = 100;
  Finding fact = Costing("host-sync", 0, CostKind::kExact, Severity::kInfo);
  fact.advice = "Keep the running value on the device.";
  fact.evidence = {{"reads a value back once per step", 10, Where{"train.py", 41, "main"}}};
  report.findings = {fact};
  Output output;
  output.columns = 400;
  ASSERT_TRUE(FindFormat("text")->write(report, output).ok());
  EXPECT_THAT(output.bytes, HasSubstr("host-sync, at train.py:41 in main (host-sync)\n"));
  EXPECT_THAT(output.bytes, Not(HasSubstr("Fix:")));
}

}  // namespace
}  // namespace loopscope
