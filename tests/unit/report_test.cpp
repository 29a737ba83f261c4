#include "profiler/core/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace loopscope {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::int64_t kMs = 1'000'000;

// Steps of the given lengths on one thread, ended by marks, each with a backward that fills its second half.
Trace TraceOf(const std::vector<int>& lengths_ms, std::uint64_t samples) {
  Trace trace;
  trace.run.command = {"train"};
  trace.quality.events = 7;
  trace.strings = {"", "mark", "backward"};
  trace.threads.resize(1);
  std::int64_t now_ns = 1000 * kMs;
  trace.marks.push_back({now_ns, MarkKind::kStepEnd, 1, samples, 0});
  for (const int length_ms : lengths_ms) {
    Event backward;
    backward.kind = EventKind::kRange;
    backward.sub = static_cast<std::uint8_t>(RangeCategory::kBackward);
    backward.name = 2;
    backward.start_ns = now_ns + length_ms * kMs / 2;
    backward.end_ns = now_ns + length_ms * kMs;
    trace.threads[0].events.push_back(backward);
    now_ns += length_ms * kMs;
    trace.marks.push_back({now_ns, MarkKind::kStepEnd, 1, samples, 0});
  }
  return trace;
}

// A warm-up of five steps of 50 ms, then steps of 1 to 20 ms.
Report ReportOfTwentySteps(std::uint64_t samples) {
  std::vector<int> lengths_ms(25, 50);
  std::iota(lengths_ms.begin() + 5, lengths_ms.end(), 1);
  Trace trace = TraceOf(lengths_ms, samples);
  trace.marks.insert(trace.marks.begin() + 6, {1250 * kMs, MarkKind::kMeasureBegin, 0, 0, 0});
  return ReportOf(std::make_shared<const Timeline>(Timeline::Build(std::move(trace))));
}

TEST(Report, CountsOnlySteadySteps) {
  const Report report = ReportOfTwentySteps(8);
  EXPECT_EQ(report.steps.measured, 20);
  EXPECT_NEAR(report.steps.mean_ms.value(), 10.5, 1e-6);
  EXPECT_NEAR(report.steps.p50_ms.value(), 10, 1e-6);  // nearest rank: the tenth of twenty
  EXPECT_NEAR(report.steps.p95_ms.value(), 19, 1e-6);
  EXPECT_NEAR(report.steps.samples_per_s.value(), 8 / 0.0105, 1e-3);
  EXPECT_EQ(report.steps.per_epoch_ms, std::nullopt);
  EXPECT_EQ(report.run.command, std::vector<std::string>{"train"});
  EXPECT_EQ(report.quality.events, 7u);
  EXPECT_NE(report.timeline, nullptr);
}

TEST(Report, PartsSumToTheStepAndAnUnseenLoaderIsUnknown) {
  const Report report = ReportOfTwentySteps(8);
  double sum_ms = 0;
  for (const std::optional<double>& part : report.breakdown_ms) sum_ms += part.value_or(0);
  EXPECT_NEAR(sum_ms, 10.5, 1e-6);
  EXPECT_NEAR(report.breakdown_ms[static_cast<int>(Part::kBackward)].value(), 5.25, 1e-6);
  EXPECT_EQ(report.breakdown_ms[static_cast<int>(Part::kLoaderWait)], std::nullopt);
}

TEST(Report, UnknownSamplesGiveNoRate) {
  EXPECT_EQ(ReportOfTwentySteps(0).steps.samples_per_s, std::nullopt);
}

TEST(Report, WithoutStepsEverythingIsUnknownAndSaid) {
  const Report report = ReportOf(std::make_shared<const Timeline>(Timeline::Build(TraceOf({}, 0))));
  EXPECT_EQ(report.steps.measured, 0);
  EXPECT_EQ(report.steps.mean_ms, std::nullopt);
  for (const std::optional<double>& part : report.breakdown_ms) EXPECT_EQ(part, std::nullopt);
  EXPECT_THAT(report.quality.warnings, Contains(HasSubstr("no step could be measured")));
}

TEST(Report, SaysHowAProgramFailed) {
  const auto warnings = [](int exit_status, int steps) {
    Trace trace = TraceOf(std::vector<int>(static_cast<std::size_t>(steps), 10), 0);
    trace.run.exit_status = exit_status;
    return ReportOf(std::make_shared<const Timeline>(Timeline::Build(std::move(trace)))).quality.warnings;
  };
  EXPECT_THAT(warnings(1, 0), Contains(HasSubstr("the program ended with status 1 before its first step")));
  EXPECT_THAT(warnings(1, 20), Contains(HasSubstr("the program ended with status 1 after 20 steps")));
  EXPECT_THAT(warnings(137, 0), Contains(HasSubstr("was killed by signal 9 (Killed)")));
  EXPECT_THAT(warnings(130, 0), Contains(HasSubstr("was interrupted")));
  EXPECT_THAT(warnings(0, 0), Not(Contains(HasSubstr("the program"))));
  EXPECT_THAT(warnings(-1, 0), Not(Contains(HasSubstr("the program"))));
}

TEST(Report, OfATraceWithoutStepsSaysHowToRecordThem) {
  Trace trace = TraceOf({}, 0);
  trace.run.source = "kineto";
  const Report report = ReportOf(std::make_shared<const Timeline>(Timeline::Build(std::move(trace))));
  EXPECT_THAT(report.quality.warnings, Contains(HasSubstr("profiler.step()")));
}

}  // namespace
}  // namespace loopscope
