#include "profiler/core/report/headline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/formats.h"
#include "reports/words/finding_wording.h"
#include "reports/words/headline_wording.h"
#include "reports/words/wording.h"
#include "tests/support/sample_report.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Where At(int line, std::string path = "/home/ann/train/train.py", std::string function = "main") {
  return {std::move(path), line, std::move(function)};
}

LineRow Line(Where where, std::string what, std::string phase, double ms) {
  return {where, std::nullopt, std::move(what), std::move(phase), ms, 0};
}

// A step of 158 ms, 140 of them at replay.py:37 and not explained by a rule.
Report Unexplained() {
  Report report;
  report.run.working_directory = "/home/ann/train";
  report.steps.measured = 50;
  report.steps.mean_ms = 158;
  report.breakdown_ms = {0, 0, 8, 8, 2, 0, 0, 140};
  report.lines = {Line(At(37, "/home/ann/train/replay.py", "sample"), "torch.tensor", "other", 100),
                  Line(At(37, "/home/ann/train/replay.py", "sample"), "random.sample", "other", 40),
                  Line(At(12, "/home/ann/train/model.py", "forward"), "aten::linear", "forward", 8),
                  Line(At(60), "aten::mm", "backward", 8), Line(At(61), "aten::add_", "optimizer", 2)};
  Finding adam =
      test::SampleFinding("single-tensor-optimizer", "Adam updates one tensor at a time", Severity::kLow, 1.4, 0.9);
  adam.evidence = {{"100 operators", 1, At(61)}};
  report.findings = {adam};
  return report;
}

Finding Loader(double ms, double pct) {
  Finding loader = test::SampleFinding("input-starvation", "the loop waits for its loader", Severity::kHigh, ms, pct);
  loader.cost_is = CostKind::kExact;
  loader.evidence = {{"each step", 1, At(20)}};
  return loader;
}

TEST(Headline, IsAProfilerThatIsInAllFigures) {
  Report report = Unexplained();
  Finding profiler = test::SampleFinding("debug-left-on", "a torch profiler left on: at least 0.34 ms per step",
                                         Severity::kMedium, 0.34, 0.2);
  profiler.cost_is = CostKind::kLeast;
  profiler.evidence = {{"a torch profiler is turned on here", 1, At(33)}};
  report.findings.push_back(profiler);
  EXPECT_EQ(
      HeadlineText(report),
      "a torch profiler left on: at least 0.34 ms per step (debug-left-on), at train.py:33 in main: at least 340 µs "
      "of each 158 ms step.");
  report.findings.back().severity = Severity::kLow;  // on in some of the steps: a deliberate sample
  EXPECT_EQ(HeadlineOf(report).finding, nullptr);
}

TEST(Headline, IsWhatNoFindingExplainsWhereThatIsLarger) {
  EXPECT_EQ(HeadlineText(Unexplained()),
            "89 % of the step (140 ms of 158 ms) is Python at replay.py:37 in sample: torch.tensor.");
  const Report report = Unexplained();
  const Headline headline = HeadlineOf(report);
  EXPECT_EQ(headline.finding, nullptr);
  EXPECT_EQ(headline.where->line, 37);
  EXPECT_DOUBLE_EQ(headline.ms, 140);
}

// One line that calls a whole framework: what several callees share is the line's, of one phase, without the operators.
TEST(Headline, GivesALineToNoCalleeThatHasAPartOfIt) {
  Report report = Unexplained();
  const auto row = [](int library, std::string what, std::string phase, double ms, double what_ms, double ops_ms) {
    LineRow made = Line(At(8), std::move(what), std::move(phase), ms);
    made.library = At(library, "/v/site-packages/keras/trainer.py", "fit");
    made.what_ms = what_ms;
    made.operators_ms = ops_ms;
    return made;
  };
  report.lines = {row(10, "on_train_batch_end", "other", 30, 26, 0), row(20, "apply", "other", 28, 20, 0),
                  row(30, "train_step", "other", 22, 9, 0), row(10, "_next_data", "loader_wait", 20, 20, 0),
                  row(20, "call", "forward", 40, 12, 30)};
  EXPECT_EQ(HeadlineText(report), "51 % of the step (80.0 ms of 158 ms) is Python at train.py:8 in main.");
  report.lines[0] = row(10, "on_train_batch_end", "other", 90, 88, 0);
  EXPECT_EQ(HeadlineText(report),
            "89 % of the step (140 ms of 158 ms) is Python at train.py:8 in main (keras/trainer.py:10 in fit): "
            "on_train_batch_end.");
}

TEST(Headline, ACompiledUpdateComputes) {
  Report report = Unexplained();
  report.lines.resize(1);
  report.lines[0].what = "Torch-Compiled Region: 0/0";
  EXPECT_THAT(HeadlineText(report), HasSubstr("No known flaw was found"));
}

TEST(Headline, NamesTheLibraryBesideALineThatOnlyCallsIt) {
  Report report = Unexplained();
  report.lines[0].library = At(210, "/usr/lib/trainer.py", "fit");
  EXPECT_THAT(HeadlineText(report),
              HasSubstr("at replay.py:37 in sample (/usr/lib/trainer.py:210 in fit): torch.tensor"));
}

// Most of the step computes, so that 14 % of it at a line would be no headline: neither does it stand in the way of
// one.
TEST(Headline, OfAPlaceTooSmallToLeadLeavesItToTheFinding) {
  Report report = Unexplained();
  report.breakdown_ms = {0, 0, 60, 60, 2, 0, 0, 36};
  report.lines = {Line(At(12, "/home/ann/train/model.py", "forward"), "aten::linear", "forward", 60),
                  Line(At(60), "aten::mm", "backward", 60), Line(At(37), "sample", "other", 20)};
  report.findings = {Loader(12, 7.6)};
  const Headline headline = HeadlineOf(report);
  ASSERT_NE(headline.finding, nullptr);
  EXPECT_EQ(headline.kind, HeadlineKind::kFinding);
  EXPECT_EQ(headline.finding->rule, "input-starvation");
}

TEST(Headline, IsTheFindingThatExplainsThePlace) {
  Report report = Unexplained();
  Finding code = test::SampleFinding("host-code", "the loop's own code: torch.tensor", Severity::kHigh, 140, 88.6);
  code.cost_is = CostKind::kExact;
  code.evidence = {{"torch.tensor", 1, At(37, "/home/ann/train/replay.py", "sample"), 140}};
  report.findings.push_back(code);
  EXPECT_EQ(HeadlineText(report),
            "the loop's own code: torch.tensor (host-code), at replay.py:37 in sample: 140 ms of each 158 ms step.");
}

TEST(Headline, SaysWhatOfAFindingItsFirstPlaceHas) {
  Report report = Unexplained();
  Finding code = test::SampleFinding("host-code", "the loop's own code", Severity::kHigh, 148, 93.7);
  code.evidence = {{"torch.tensor", 1, At(37, "/home/ann/train/replay.py", "sample"), 110}, {"", 1, At(40), 38}};
  report.findings = {code};
  EXPECT_EQ(HeadlineText(report),
            "the loop's own code (host-code), the largest part of it at replay.py:37 in sample (110 ms: "
            "torch.tensor): 148 ms of "
            "each 158 ms step.");
}

TEST(Headline, OfAFindingThatExplainsAPartOfItsPlaceIsTheRest) {
  Report report = Unexplained();
  Finding copy = test::SampleFinding("needless-copy", "a batch is copied", Severity::kMedium, 12, 7.6);
  copy.evidence = {{"torch.tensor", 1, At(37, "/home/ann/train/replay.py", "sample")}};
  report.findings = {copy};
  EXPECT_THAT(HeadlineText(report), HasSubstr("89 % of the step"));
}

TEST(Headline, WithoutLinesNamesThePartAndNoSmallFinding) {
  Report report = Unexplained();
  report.lines.clear();
  EXPECT_EQ(HeadlineText(report),
            "89 % of the step (140 ms of 158 ms) is host code outside the passes and the optimizer; no line of the "
            "program is known for it.");
}

TEST(Headline, OfManySmallLinesSaysThatTheyAreMany) {
  Report report = Unexplained();
  report.lines.erase(report.lines.begin(), report.lines.begin() + 2);
  for (int line = 100; line < 120; ++line) report.lines.push_back(Line(At(line), "", "other", 7));
  EXPECT_THAT(HeadlineText(report),
              HasSubstr("89 % of the step (140 ms of 158 ms) is Python, spread over 20 places; the "
                        "largest is 7.00 ms at train.py:100 in main."));
}

TEST(Headline, ABoundCountsByWhatItMayBring) {
  Report report = Unexplained();
  report.lines.clear();
  report.breakdown_ms = {20, 0, 60, 60, 18, 0, 0, 0};
  Finding precision = test::SampleFinding("fp32-compute", "layers run in float32", Severity::kHigh, 100, 63);
  precision.cost_is = CostKind::kBound;
  report.findings = {precision, Loader(20, 12.7)};
  EXPECT_THAT(HeadlineText(report),
              HasSubstr("(input-starvation), at train.py:20 in main: 20.0 ms of each 158 ms step."));
  report.findings[0].expected_gain_ms = 40;  // measured in the program
  EXPECT_THAT(HeadlineText(report), HasSubstr("(fp32-compute): about 40.0 ms of each 158 ms step."));
  report.findings.pop_back();
  report.findings[0].expected_gain_ms.reset();
  report.breakdown_ms[0] = 0;
  EXPECT_THAT(HeadlineText(report), HasSubstr("(fp32-compute): up to 100 ms of each 158 ms step."));
}

TEST(Headline, OfAHealthyLoopSaysThatItComputes) {
  Report report = Unexplained();
  report.lines = {Line(At(31, "/home/ann/train/model.py", "forward"), "aten::conv2d", "forward", 80),
                  Line(At(60), "aten::convolution_backward", "backward", 65), Line(At(61), "", "other", 3),
                  Line(At(62), "aten::add_", "optimizer", 10)};
  report.findings.clear();
  EXPECT_EQ(HeadlineText(report),
            "No known flaw was found: 98 % of the step is computing, most of it "
            "at model.py:31 in forward (aten::conv2d).");
  Headroom headroom;
  headroom.step_ms = 158;
  headroom.floor_ms = 140;
  headroom.lines = {{At(31, "/home/ann/train/model.py", "forward"), "aten::conv2d", 145, 60}};
  report.headroom = headroom;
  EXPECT_EQ(HeadlineText(report),
            "Nothing that costs this loop time was found: 98 % of the step is computing, 1.1 times what the arithmetic "
            "and memory traffic of its operators need on this machine, most of it at model.py:31 in forward "
            "(aten::conv2d).");
  report.headroom->floor_ms = 75;
  EXPECT_EQ(
      HeadlineText(report),
      "No known flaw was found: 98 % of the step is computing, 2.1 times what the arithmetic and memory traffic of "
      "its operators need on this machine, most of it beyond that at model.py:31 in forward (aten::conv2d).");
  report.headroom->unknown_ms = 60;
  EXPECT_THAT(HeadlineText(report), HasSubstr("98 % of the step is computing, most of it at model.py:31"))
      << "too much of the step is in operators without a formula";
  report.headroom->unknown_ms = 0;
  report.headroom->shared = true;
  EXPECT_THAT(HeadlineText(report), HasSubstr("98 % of the step is computing, most of it at model.py:31"))
      << "other programs may have made it slow";
  report.headroom.reset();
  report.findings = {test::SampleFinding("grads-zeroed", "gradients are zeroed", Severity::kLow, 2, 1.3)};
  EXPECT_THAT(HeadlineText(report), HasSubstr("; the largest finding, grads-zeroed, is worth 1.3 % of it."));
  report.findings = {test::SampleFinding("fp32-compute", "float32 products", Severity::kLow, 79, 50)};
  report.findings[0].expected_gain_ms = 3.16;  // of products that take half of the step
  EXPECT_THAT(HeadlineText(report), HasSubstr("; the largest finding, fp32-compute, is worth about 2.0 % of it."));
}

TEST(Headline, OfOneThatOnlyComputesIsNoCostlessFactOfInfo) {
  Report report = Unexplained();
  report.lines.clear();
  report.breakdown_ms = {0, 0, 80, 70, 8, 0, 0, 0};
  report.findings = {test::SampleFinding("host-sync", "a value is read", Severity::kInfo, 0, 0)};
  EXPECT_THAT(HeadlineText(report), HasSubstr("No known flaw was found"));
  report.findings[0].severity = Severity::kHigh;
  EXPECT_EQ(HeadlineText(report), "a value is read (host-sync).");
}

TEST(Headline, MemoryThatFillsUpComesBeforeWhatCostsLittle) {
  Report report = Unexplained();
  report.lines.clear();
  report.breakdown_ms = {0, 0, 80, 70, 8, 0, 0, 0};
  report.findings = {test::SampleFinding("host-code", "random numbers are drawn", Severity::kMedium, 9, 6),
                     test::SampleFinding("graph-retained", "a sum keeps every graph", Severity::kMedium, 0, 0)};
  EXPECT_EQ(HeadlineText(report), "a sum keeps every graph (graph-retained).");
  report.findings[1].evidence = {{"adds to a sum", 3, At(60)}};
  EXPECT_EQ(HeadlineText(report), "a sum keeps every graph (graph-retained), at train.py:60 in main.");
  report.findings[0].cost_ms_per_step = 32;
  report.findings[0].cost_pct = 20;
  EXPECT_THAT(HeadlineText(report), HasSubstr("random numbers are drawn"));
}

TEST(Headline, WhereMuchMayBeWonMemoryThatFillsUpWaits) {
  Report report = Unexplained();
  report.lines.clear();
  report.breakdown_ms = {0, 0, 80, 70, 8, 0, 0, 0};
  Finding proven = test::SampleFinding("debug-left-on", "anomaly mode is left on", Severity::kHigh, 28, 18);
  proven.expected_gain_ms = 28;
  Finding bounded = test::SampleFinding("idle-processors", "a processor is idle", Severity::kHigh, 35, 22);
  bounded.cost_is = CostKind::kBound;
  report.findings = {bounded, proven,
                     test::SampleFinding("graph-retained", "a sum keeps every graph", Severity::kMedium, 0, 0)};
  EXPECT_THAT(HeadlineText(report), HasSubstr("anomaly mode is left on"));
  report.findings.erase(report.findings.begin());
  EXPECT_EQ(HeadlineText(report), "a sum keeps every graph (graph-retained).");
}

TEST(Headline, OfALoopOfShortOperatorsSaysWhatTheyCost) {
  Report report = Unexplained();
  report.lines = {Line(At(31, "/home/ann/train/model.py", "forward"), "aten::linear", "forward", 80),
                  Line(At(60), "aten::mm", "backward", 70)};
  report.findings = {test::SampleFinding("small-batch", "operators are too short", Severity::kInfo, 95, 60)};
  EXPECT_EQ(HeadlineText(report),
            "60 % of the step (95.0 ms of 158 ms) is the price of calling short operators (small-batch).");
  report.findings[0].evidence = {{"5000 such operators", 5000, {}},
                                 {"3000 of them", 3000, At(31, "/home/ann/train/model.py", "forward")}};
  EXPECT_THAT(HeadlineText(report), HasSubstr("(small-batch), the largest part of it for model.py:31 in forward."));
  report.findings[0].cost_pct = 30;
  EXPECT_THAT(HeadlineText(report), HasSubstr("No known flaw was found"));
}

TEST(Headline, CanBeAPartOfTheRunOutsideOfSteps) {
  Report report = Unexplained();
  report.lines.clear();
  report.breakdown_ms = {0, 0, 80, 70, 8, 0, 0, 0};
  report.whole = WholeFacts{3000, 7900, 0, 11850, 0, 50, 0, 2};
  report.whole_lines = {Line(At(13), "aten::linear", "evaluation", 5000)};
  EXPECT_EQ(HeadlineText(report),
            "60 % of the run after start-up is evaluation, at train.py:13 in main: aten::linear.");
  report.whole = WholeFacts{0, 300, 194, 0, 0, 2, 2, 0};
  report.whole_lines = {Line(At(32), "aten::multinomial", "epoch_start", 92)};
  EXPECT_EQ(
      HeadlineText(report),
      "92.0 ms of 97.0 ms of each epoch's start are at train.py:32 in main: aten::multinomial (39 % of the run).");
  report.rules = {{"slow-epoch-start", Verdict::kClear, "", "epoch_start"}};  // a rule has looked
  EXPECT_THAT(HeadlineText(report), HasSubstr("No known flaw was found"));
}

TEST(Headline, ComparesSharesOfTheRun) {
  Report report = Unexplained();
  report.lines.clear();
  report.breakdown_ms = {40, 0, 60, 50, 8, 0, 0, 0};
  report.whole = WholeFacts{0, 1580, 0, 8000, 0, 10, 0, 1};
  Finding evaluation = test::SampleFinding("grad-in-eval", "validation records a graph", Severity::kHigh, 700, 443);
  evaluation.cost_is = CostKind::kBound;
  evaluation.per_epoch = true;
  report.findings = {Loader(40, 25), evaluation};
  EXPECT_EQ(HeadlineText(report), "validation records a graph (grad-in-eval): up to 73 % of the run.");
  EXPECT_NEAR(ShareOfRunPct(report, report.findings[0]).value(), 4.18, 0.01);
  EXPECT_EQ(CostText(report, report.findings[0]), "exactly 40.0 ms per step, 25 %; 4.2 % of the run");
}

TEST(Headline, FollowsWhatWasMeasured) {
  Report report = Unexplained();
  report.lines.clear();
  report.breakdown_ms = {0, 0, 80, 70, 8, 0, 0, 0};
  Finding precision = test::SampleFinding("fp32-compute", "layers run in float32", Severity::kHigh, 100, 63);
  precision.treatment_id = "amp";
  precision.advice = "Use 16-bit layers.";
  report.findings = {precision};
  EXPECT_THAT(HeadlineText(report), HasSubstr("(fp32-compute)"));
  TrialRow trial;
  trial.treatment = "amp";
  trial.value = "bf16";
  trial.speedup = 0.67;
  trial.verdict = TrialVerdict::kSlower;
  report.trials = {trial};
  EXPECT_THAT(HeadlineText(report), Not(HasSubstr("fp32-compute")));
  EXPECT_EQ(AdviceText(report, precision), "measured: amp=bf16 0.67x, do not. What else there is: Use 16-bit layers.");
  EXPECT_THAT(CostliestFindings(report), IsEmpty());
  trial.value = "fp16";
  trial.verdict = TrialVerdict::kFaster;
  report.trials.push_back(trial);
  EXPECT_THAT(HeadlineText(report), HasSubstr("(fp32-compute)"));
  EXPECT_EQ(AdviceText(report, precision), "Use 16-bit layers.");
}

TEST(Headline, AWaitIsAWaitThoughItsFixDoesNotHelp) {
  Report report = Unexplained();
  report.lines.clear();
  report.breakdown_ms = {90, 0, 30, 24, 14, 0, 0, 0};
  Finding wait = Loader(90, 57);
  wait.treatment_id = "loader.workers";
  Finding stepwise =
      test::SampleFinding("single-tensor-optimizer", "AdamW updates one tensor at a time", Severity::kMedium, 14, 9);
  stepwise.treatment_id = "optimizer.impl";
  report.findings = {wait, stepwise};
  for (const char* const id : {"loader.workers", "optimizer.impl"}) {
    TrialRow trial;
    trial.treatment = id;
    trial.verdict = TrialVerdict::kSlower;
    report.trials.push_back(trial);
  }
  EXPECT_THAT(HeadlineText(report), HasSubstr("(input-starvation)"));
  report.findings = {stepwise};
  EXPECT_THAT(HeadlineText(report), Not(HasSubstr("single-tensor-optimizer")));
}

TEST(Headline, WhatIsForInformationOnlyIsNotAmongTheCostliest) {
  Report report = Unexplained();
  report.findings = {test::SampleFinding("launch-bound", "the GPU waits for launches", Severity::kHigh, 120, 76),
                     test::SampleFinding("gpu-starvation", "the GPU is idle", Severity::kInfo, 121, 77),
                     test::SampleFinding("host-sync", "a value is read", Severity::kLow, 3, 2)};
  EXPECT_THAT(CostliestFindings(report),
              ElementsAre(HasSubstr("the GPU waits for launches"), HasSubstr("a value is read")));
}

TEST(Headline, SaysThatStepsAreGuessed) {
  Report report = Unexplained();
  report.steps.clock = ClockFacts{"backward", ClockSource::kBackward, true, 1, 1, std::nullopt};
  EXPECT_THAT(HeadlineText(report), testing::EndsWith("torch.tensor (steps are guessed from backward passes)."));
}

TEST(Headline, HostCodeUnderABusyGpuCostsNothing) {
  Report report = Unexplained();
  report.gpu = GpuFacts{};
  report.gpu->busy_pct = 97;
  report.gpu->idle_pct = 3;
  EXPECT_THAT(HeadlineText(report), Not(HasSubstr("replay.py")));
  EXPECT_THAT(HeadlineText(report), HasSubstr("was found: the GPU has work for 97 % of the step"));
}

TEST(Headline, IsInEveryFormatThatHasRoomForOne) {
  Report report = Unexplained();
  report.rules = {{"single-tensor-optimizer", Verdict::kFound, ""}};
  for (const char* format : {"text", "markdown", "html", "json", "junit", "sarif"}) {
    Output output;
    output.columns = 400;
    ASSERT_TRUE(FindFormat(format)->write(report, output).ok());
    EXPECT_THAT(output.bytes, HasSubstr("is Python at replay.py")) << format;
  }
}

}  // namespace
}  // namespace loopscope
