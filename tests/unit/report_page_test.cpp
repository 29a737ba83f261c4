// What the HTML page is made of: a step as lanes of bars, quoted source lines, code examples, two runs compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "analyzers/analyzers.h"
#include "analyzers/diagnose/rule_texts.h"
#include "profiler/core/printable.h"
#include "profiler/core/report/compare.h"
#include "profiler/core/report/comparison.h"
#include "profiler/core/report/report.h"
#include "reports/formats.h"
#include "reports/html/data.h"
#include "reports/html/timeline_view.h"
#include "tests/support/trace_builder.h"

namespace loopscope {
namespace {

using test::EventSpec;
using testing::HasSubstr;

constexpr std::int64_t kMs = 1'000'000;

EventSpec Op(std::string name, std::int64_t length_ns, std::vector<EventSpec> inside = {}, int repeat = 1) {
  EventSpec spec;
  spec.name = std::move(name);
  spec.length_ns = length_ns;
  spec.flags = wire::kOpGraph;
  spec.inside = std::move(inside);
  spec.repeat = repeat;
  return spec;
}

EventSpec Range(RangeCategory category, std::string name, std::int64_t length_ns) {
  EventSpec spec;
  spec.kind = EventSpec::Kind::kRange;
  spec.sub = static_cast<std::uint8_t>(category);
  spec.name = std::move(name);
  spec.length_ns = length_ns;
  return spec;
}

// `steps` steps: a loader of 2 ms, 10 ms of forward with `small` ops of 1 us inside, 6 ms of backward, 1 ms of
// optimizer. Step 7 waits 5 ms longer for its loader.
Trace Training(int steps, int small, std::int64_t forward_ns = 10 * kMs) {
  test::TraceBuilder builder;
  const std::uint32_t training = builder.Thread("main");
  const auto add = [&](const EventSpec& spec) {
    const std::int64_t end = builder.Add(training, spec, builder.now(), true);
    builder.Advance(end - builder.now());
  };
  for (int step = 0; step < steps; ++step) {
    add(Range(RangeCategory::kLoader, "loader", step == 7 ? 7 * kMs : 2 * kMs));
    add(Op("aten::conv2d", forward_ns, {Op("aten::tiny", 1000, {}, small)}));
    add(Range(RangeCategory::kBackward, "backward", 6 * kMs));
    add(Range(RangeCategory::kOptimizer, "SGD", 1 * kMs));
    builder.Mark(MarkKind::kStepEnd, 32, "optimizer:SGD#1");
  }
  return builder.Take();
}

std::size_t Bars(const StepView& view) {
  std::size_t bars = 0;
  for (const Lane& lane : view.lanes) {
    for (const auto& row : lane.rows) bars += row.size();
  }
  return bars;
}

TEST(StepView, HasTheStepAndTheTrainingThreadAsLanes) {
  const Timeline timeline = Timeline::Build(Training(20, 3));
  const StepView view = ViewOf(timeline, TypicalStep(timeline), 1000);
  ASSERT_EQ(view.lanes.size(), 2u);
  EXPECT_EQ(view.lanes[0].kind, "step");
  EXPECT_EQ(view.lanes[1].title, "training thread");
  std::int64_t sum = 0;
  for (const Bar& bar : view.lanes[0].rows[0]) sum += bar.length_ns;
  EXPECT_EQ(sum, view.length_ns);
  ASSERT_EQ(view.lanes[1].rows.size(), 2u);
  EXPECT_EQ(view.names[view.lanes[1].rows[0][1].name], "aten::conv2d");
  EXPECT_EQ(view.lanes[1].rows[0][1].length_ns, 10 * kMs);
  EXPECT_EQ(view.names[view.longest[0].name], "aten::conv2d");
  EXPECT_EQ(view.longest[0].self_ns, 10 * kMs - 3000);
}

TEST(StepView, TheWorstStepIsTheLongestAndTheTypicalIsNot) {
  const Timeline timeline = Timeline::Build(Training(20, 3));
  EXPECT_EQ(timeline.steps()[WorstStep(timeline)].time.length(), 24 * kMs);
  EXPECT_EQ(timeline.steps()[TypicalStep(timeline)].time.length(), 19 * kMs);
  EXPECT_EQ(TypicalStep(Timeline::Build({})), kNone);
}

TEST(StepView, JoinsWhatIsTooShortAndLosesNothing) {
  const Timeline timeline = Timeline::Build(Training(20, 9000));
  for (const std::size_t most : {40u, 400u, 20000u}) {
    const StepView view = ViewOf(timeline, TypicalStep(timeline), most);
    EXPECT_LE(Bars(view), most);
    std::uint64_t tiny = 0;
    std::int64_t end = 0;
    for (const Bar& bar : view.lanes[1].rows[1]) {
      EXPECT_GE(bar.start_ns, end);
      end = bar.start_ns + bar.length_ns;
      tiny += bar.count;
    }
    EXPECT_EQ(tiny, 9000u) << most;
    EXPECT_LE(end, view.length_ns);
  }
}

TEST(StepView, ShowsWhatBeganBeforeTheStepAndOtherProcesses) {
  Trace trace = Training(20, 1);
  Thread worker;
  worker.pid = 4711;
  worker.tid = 4711;
  Event event;
  event.kind = EventKind::kRange;
  event.start_ns = 0;
  event.end_ns = trace.threads[0].events.back().end_ns;
  event.name = 1;
  worker.events = {event};
  trace.threads.push_back(worker);
  const Timeline timeline = Timeline::Build(std::move(trace));
  const StepView view = ViewOf(timeline, TypicalStep(timeline), 1000);
  ASSERT_EQ(view.lanes.size(), 3u);
  EXPECT_EQ(view.lanes[2].kind, "worker");
  EXPECT_THAT(view.lanes[2].title, HasSubstr("4711"));
  EXPECT_EQ(view.lanes[2].rows[0][0].start_ns, 0);
  EXPECT_EQ(view.lanes[2].rows[0][0].length_ns, view.length_ns);
}

TEST(StepView, KeepsTheBusiestOfManyLanesAndCountsTheRest) {
  Trace trace = Training(20, 1);
  const std::int64_t first = trace.threads[0].events.front().start_ns, last = trace.threads[0].events.back().end_ns;
  for (std::uint32_t index = 0; index < 40; ++index) {
    Thread thread;
    thread.pid = trace.threads[0].pid;
    thread.tid = 1000 + index;
    for (std::int64_t at = first; at < last; at += kMs) {
      Event event;
      event.kind = EventKind::kRange;
      event.name = 1;
      event.start_ns = at;
      event.end_ns = at + 10'000 * (index + 1);
      thread.events.push_back(event);
    }
    trace.threads.push_back(std::move(thread));
  }
  const Timeline timeline = Timeline::Build(std::move(trace));
  const StepView view = ViewOf(timeline, TypicalStep(timeline), 5000);
  EXPECT_EQ(view.lanes.size(), 24u);
  EXPECT_EQ(view.lanes_left_out, 18);
  EXPECT_THAT(view.lanes.back().title, HasSubstr("1039"));
}

TEST(StepView, DeviceStreamsAndCommunicationHaveLanes) {
  Trace trace = Training(20, 1);
  const std::int64_t at = trace.threads[0].events[45].start_ns;
  Device device{"GPU", 0, {}};
  device.events = {{at, at + kMs, 0, 1, 7, 0, kNone, DeviceKind::kKernel, CopyKind::kNotACopy, 0},
                   {at, at + 2 * kMs, 0, 1, 9, 0, kNone, DeviceKind::kCommunication, CopyKind::kNotACopy, 0}};
  trace.devices = {device};
  const Timeline timeline = Timeline::Build(std::move(trace));
  const StepView view = ViewOf(timeline, static_cast<std::uint32_t>(timeline.step_at(at)), 1000);
  std::vector<std::string> kinds;
  for (const Lane& lane : view.lanes) kinds.push_back(lane.kind);
  EXPECT_THAT(kinds, testing::ElementsAre("step", "training", "device", "communication"));
  EXPECT_EQ(view.lanes[2].title, "GPU 0 stream 7");
}

// Names of ops and threads reach the page and the trace for Perfetto by the timeline.
TEST(StepView, HostileNamesAreInertInWhatIsWrittenOfATimeline) {
  for (const std::string& hostile :
       {std::string("</script><script>alert(1)</script>"), std::string("\x1b[31m\x1b]0;title\x07"),
        std::string("\xff\xfe\xc0\xaf"), std::string("\xe2\x80\xae\0nul", 7), std::string(1 << 20, 'x')}) {
    test::TraceBuilder builder;
    const std::uint32_t training = builder.Thread(hostile);
    for (int step = 0; step < 20; ++step) {
      const std::int64_t end = builder.Add(training, Op(hostile, kMs, {Op(hostile, 1000)}), builder.now(), true);
      builder.Advance(end - builder.now());
      builder.Mark(MarkKind::kStepEnd, 32, hostile);
    }
    Report report;
    report.timeline = std::make_shared<const Timeline>(Timeline::Build(builder.Take()));
    ASSERT_FALSE(report.timeline->steady().empty());
    for (const char* format : {"html", "perfetto"}) {
      Output output;
      ASSERT_TRUE(FindFormat(format)->write(report, output).ok());
      EXPECT_LT(output.bytes.size(), 1'500'000u) << format;
      EXPECT_EQ(output.bytes.find("<script>alert"), output.bytes.npos) << format;
      EXPECT_EQ(output.bytes.find_first_of(std::string_view("\x1b\x07\0", 3)), output.bytes.npos) << format;
      EXPECT_EQ(Printable(output.bytes, output.bytes.size() + 1).size(), output.bytes.size()) << format;
    }
  }
}

class Quotes : public testing::Test {
 protected:
  Quotes() {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "loop.py") << "one\n\ttwo\nthree\nfour\nfive \x1b[31m\nsix\n";
    run_.working_directory = folder_;
    run_.started = At(std::time(nullptr) + 60);
  }
  ~Quotes() override { std::filesystem::remove_all(folder_); }

  static std::string At(std::time_t time) {
    char text[40];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
    return text;
  }
  SourceQuote Of(const std::string& path, int line) const { return QuoteSource({path, line, "f"}, run_); }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("quotes_" + std::to_string(getpid()));
  RunInfo run_;
};

TEST_F(Quotes, LinesAroundThePlaceAreInert) {
  const SourceQuote quote = Of("loop.py", 3);
  EXPECT_EQ(quote.why_not, "");
  EXPECT_EQ(quote.first_line, 1);
  EXPECT_THAT(quote.lines, testing::ElementsAre("one", "    two", "three", "four", "five \xef\xbf\xbd[31m"));
  EXPECT_EQ(Of((folder_ / "loop.py").string(), 6).lines.back(), "six");
}

TEST_F(Quotes, WhatMayHaveChangedIsNotQuoted) {
  run_.started = At(std::time(nullptr) - 3600);
  EXPECT_THAT(Of("loop.py", 3).why_not, HasSubstr("changed since"));
  run_.started = "yesterday";
  EXPECT_THAT(Of("loop.py", 3).why_not, HasSubstr("not known"));
  EXPECT_TRUE(Of("loop.py", 3).lines.empty());
}

TEST_F(Quotes, OnlySourcesAreRead) {
  std::ofstream(folder_ / "secret.txt") << "password\n";
  EXPECT_THAT(Of("secret.txt", 1).why_not, HasSubstr("not a source"));
  EXPECT_THAT(Of("/etc/passwd", 1).why_not, HasSubstr("not a source"));
  EXPECT_THAT(Of("gone.py", 1).why_not, HasSubstr("not here"));
  EXPECT_THAT(Of("loop.py", 7).why_not, HasSubstr("no such line"));
  EXPECT_THAT(Of("loop.py", 2147483647).why_not, HasSubstr("no such line"));
  std::filesystem::create_directory(folder_ / "folder.py");
  EXPECT_THAT(Of("folder.py", 1).why_not, HasSubstr("not here"));
  EXPECT_EQ(Of("loop.py", 0).why_not, "");
}

TEST(RuleExamples, EveryCodeBlockOfEveryRuleIsOne) {
  for (const Analyzer* rule : AllAnalyzers()) {
    const std::string_view text = RuleText(rule->id);
    const std::vector<CodeExample> examples = RuleExamples(rule->id);
    for (const char* language : {"cpp", "python"}) {
      const bool block = text.find(std::string("\n```") + language + "\n") != text.npos;
      const auto found = std::ranges::find(examples, language, &CodeExample::language);
      ASSERT_EQ(found != examples.end(), block) << rule->id << " " << language;
      if (block) {
        EXPECT_NE(found->after, "") << rule->id;
      }
      if (block) {
        EXPECT_EQ(found->after.find("```"), std::string::npos) << rule->id;
      }
    }
  }
}

TEST(RuleExamples, AreCutIntoBeforeAndAfter) {
  const CodeExample debug = RuleExamples("debug-left-on")[0];
  EXPECT_EQ(debug.before, "torch::autograd::AnomalyMode::set_enabled(true);");
  EXPECT_EQ(debug.after, "torch::autograd::AnomalyMode::set_enabled(options.debug);");
  const std::vector<CodeExample> eval = RuleExamples("grad-in-eval");
  ASSERT_EQ(eval.size(), 2u);
  EXPECT_THAT(eval[1].before, testing::Not(HasSubstr("no_grad")));
  EXPECT_THAT(eval[1].after, HasSubstr("with torch.no_grad():\n    for x, y in loader"));
  EXPECT_EQ(RuleExamples("single-tensor-optimizer")[0].before, "") << "there is nothing to replace";
  EXPECT_TRUE(RuleExamples("no-such-rule").empty());
}

Report ReportOfTrace(Trace trace) {
  return ReportOf(std::make_shared<const Timeline>(Timeline::Build(std::move(trace))));
}

const OpChange* Find(const Comparison& comparison, std::string_view name) {
  const auto found = std::ranges::find(comparison.ops, name, &OpChange::name);
  return found == comparison.ops.end() ? nullptr : &*found;
}

TEST(Compare, FindsOpsThatAppearedVanishedAndSlowed) {
  Trace slower = Training(20, 0, 15 * kMs);
  Trace before = Training(20, 1000);
  const Comparison comparison = Compare(ReportOfTrace(std::move(before)), ReportOfTrace(std::move(slower)));
  EXPECT_DOUBLE_EQ(*comparison.before_ms, 19 + 5.0 / 16) << "16 steady steps, one of them 5 ms longer";
  EXPECT_DOUBLE_EQ(*comparison.after_ms, 24 + 5.0 / 16);
  ASSERT_NE(Find(comparison, "aten::conv2d"), nullptr);
  EXPECT_EQ(Find(comparison, "aten::conv2d")->change, "slower");
  EXPECT_NEAR(Find(comparison, "aten::conv2d")->before_ms, 9, 1e-9);
  EXPECT_NEAR(Find(comparison, "aten::conv2d")->after_ms, 15, 1e-9);
  ASSERT_NE(Find(comparison, "aten::tiny"), nullptr);
  EXPECT_EQ(Find(comparison, "aten::tiny")->change, "vanished");
  EXPECT_DOUBLE_EQ(Find(comparison, "aten::tiny")->before_count, 1000);
  EXPECT_EQ(Find(comparison, "aten::conv2d"), &comparison.ops.front()) << "the largest first";
  EXPECT_TRUE(comparison.obstacles.empty());
}

TEST(Compare, TheSameRunTwiceHasNoChange) {
  const Comparison comparison = Compare(ReportOfTrace(Training(20, 100)), ReportOfTrace(Training(20, 100)));
  EXPECT_TRUE(comparison.ops.empty());
  EXPECT_TRUE(comparison.obstacles.empty());
  EXPECT_TRUE(comparison.differences.empty());
  EXPECT_EQ(comparison.why_no_ops, "");
}

TEST(Compare, SaysWhatMakesTwoRunsIncomparable) {
  Report before = ReportOfTrace(Training(20, 1)), after = before;
  before.run.cpu = "AMD EPYC";
  after.run.cpu = "Intel Xeon";
  after.run.gpus = {"NVIDIA H200"};
  after.steps.samples_per_s = *before.steps.samples_per_s * 2;
  after.run.versions["torch"] = "2.11.0";
  after.timeline = nullptr;
  after.findings.resize(1);
  after.findings[0].rule = "host-sync";
  const Comparison comparison = Compare(before, after);
  EXPECT_THAT(comparison.obstacles,
              testing::ElementsAre("another CPU: AMD EPYC against Intel Xeon", "other GPUs: none against NVIDIA H200",
                                   "another batch size: 32 against 64 samples per step"));
  EXPECT_THAT(comparison.differences, testing::ElementsAre("torch: (not set) against 2.11.0"));
  EXPECT_THAT(comparison.why_no_ops, HasSubstr("not between reports"));
  ASSERT_EQ(comparison.new_findings.size(), 1u);
  EXPECT_EQ(comparison.new_findings[0].rule, "host-sync");
  EXPECT_TRUE(comparison.gone_findings.empty());
}

TEST(Compare, ARunWithoutStepsIsSaid) {
  const Comparison comparison = Compare(ReportOfTrace(Training(20, 1)), Report());
  EXPECT_THAT(comparison.obstacles.back(), HasSubstr("the second has no step"));
}

}  // namespace
}  // namespace loopscope
