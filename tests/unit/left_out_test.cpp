#include "profiler/importers/capture/left_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/capture_builder.h"

namespace loopscope {
namespace {

using test::CaptureBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::MarkKind;

constexpr std::uint64_t kStepNs = 1000;
constexpr int kOps = 50;

// Steps of 50 operators from 0 on; of the details of steps 2 to 4 and 60.
CaptureBuilder Capture(int steps) {
  CaptureBuilder capture;
  for (int n = 0; n < steps; ++n) {
    const std::uint64_t at = kStepNs * static_cast<std::uint64_t>(n);
    if (n == 2 || n == 60) capture.Mark(MarkKind::kDetailBegin, "", at);
    if (n == 5 || n == 61) capture.Mark(MarkKind::kDetailEnd, "", at);
    for (std::uint64_t op = 0; op < kOps; ++op) capture.Op("aten::relu", at + op * 20, at + op * 20 + 10);
    capture.Mark(MarkKind::kStepEnd, "optimizer:SGD#1", at + kStepNs);
  }
  return capture;
}

std::vector<int> StepsLeftOut(const LeftOut& left_out, int steps) {
  std::vector<int> found;
  for (int n = 0; n < steps; ++n) {
    if (left_out.Has(kStepNs * static_cast<std::uint64_t>(n) + kStepNs / 2)) found.push_back(n);
  }
  return found;
}

constexpr std::uint64_t kAll = 1'000'000;

LeftOut Of(const std::string& bytes, MostRead most) {
  const Result<CaptureChunks> chunks = ReadChunks({bytes.data(), bytes.size()}, "x.cap");
  EXPECT_TRUE(chunks);
  return LeftOut(*chunks, most);
}

TEST(LeftOut, NothingWhereAllCanBeRead) {
  const LeftOut left_out = Of(Capture(100).Bytes(), {100 * kOps, kAll});
  EXPECT_THAT(StepsLeftOut(left_out, 100), IsEmpty());
  EXPECT_THAT(left_out.Warnings(0), IsEmpty());
}

TEST(LeftOut, TheFirstDetailsAndTheNewestAreRead) {
  const LeftOut left_out = Of(Capture(100).Bytes(), {40 * kOps, kAll});
  const std::vector<int> steps = StepsLeftOut(left_out, 100);
  EXPECT_EQ(steps.front(), 5);
  EXPECT_EQ(std::ranges::count(steps, 60), 0);  // in detail
  EXPECT_EQ(std::ranges::count(steps, 61), 1);
  EXPECT_GE(steps.back(), 69);
  EXPECT_LE(steps.back(), 74);
  EXPECT_THAT(left_out.Warnings(0), ElementsAre(HasSubstr("are not looked at")));
}

TEST(LeftOut, ALongStartIsCutToo) {
  CaptureBuilder capture;
  for (std::uint64_t op = 0; op < 5000; ++op) capture.Op("aten::relu", op * 20, op * 20 + 10);
  capture.Mark(MarkKind::kDetailBegin, "", 100'000);
  for (std::uint64_t op = 5000; op < 5100; ++op) capture.Op("aten::relu", op * 20, op * 20 + 10);
  capture.Mark(MarkKind::kDetailEnd, "", 102'000);
  const LeftOut left_out = Of(capture.Bytes(), {1000, kAll});
  EXPECT_FALSE(left_out.Has(0));
  EXPECT_TRUE(left_out.Has(50'000));
  EXPECT_FALSE(left_out.Has(101'000));  // in detail
}

TEST(LeftOut, WhatTheRecorderLeftOutIsTaken) {
  CaptureBuilder capture = Capture(100);
  capture.header.left_out_from_ns = 10 * kStepNs;
  capture.header.left_out_until_ns = 80 * kStepNs;
  const LeftOut left_out = Of(capture.Bytes(), {kAll, kAll});
  const std::vector<int> steps = StepsLeftOut(left_out, 100);
  EXPECT_EQ(steps.size(), 69u);  // except the one in detail
  EXPECT_EQ(steps.front(), 10);
  EXPECT_EQ(steps.back(), 79);
  EXPECT_THAT(left_out.Warnings(0), ElementsAre(HasSubstr("--max-capture")));
}

TEST(LeftOut, ImpossibleTimesHarmNothing) {
  CaptureBuilder capture = Capture(10);
  capture.header.left_out_from_ns = UINT64_MAX;
  capture.header.left_out_until_ns = 1;
  EXPECT_THAT(StepsLeftOut(Of(capture.Bytes(), {kAll, kAll}), 10), IsEmpty());
  capture.header.left_out_from_ns = 0;
  capture.header.left_out_until_ns = UINT64_MAX;
  EXPECT_EQ(StepsLeftOut(Of(capture.Bytes(), {kAll, kAll}), 10).size(), 7u);
}

using Switches = std::vector<std::pair<std::int64_t, MarkKind>>;
std::pair<std::int64_t, MarkKind> Off(std::int64_t at) {
  return {at, MarkKind::kOpsEnd};
}
std::pair<std::int64_t, MarkKind> On(std::int64_t at) {
  return {at, MarkKind::kOpsBegin};
}

// Handling of the switches that the recorder wrote.
Switches Marked(const LeftOut& left_out, const Switches& before) {
  Trace trace;
  trace.threads.push_back({100, 100, "", {}});
  trace.marks.push_back({1000, MarkKind::kStepEnd, 0, 0, 0});
  for (const auto& [at, kind] : before) trace.marks.push_back({at, kind, 0, 0, 0});
  left_out.Mark(trace);
  Switches after;
  for (const Mark& one : trace.marks) {
    if (one.kind != MarkKind::kStepEnd) after.emplace_back(one.time_ns, one.kind);
  }
  return after;
}

// The switches that the recorder wrote itself, and those of the time left out, are one series.
TEST(LeftOut, StepsInItAreKnownAsStepsWithoutOperators) {
  CaptureBuilder capture = Capture(20);
  capture.header.left_out_from_ns = 10 * kStepNs;
  capture.header.left_out_until_ns = 15 * kStepNs;
  const LeftOut left_out = Of(capture.Bytes(), {kAll, kAll});
  EXPECT_THAT(Marked(left_out, {Off(8000), On(9000), Off(12'000), On(17'000), Off(18'000)}),
              ElementsAre(Off(8000), On(9000), Off(10'000), On(17'000), Off(18'000)));
}

std::vector<int> StepsSkipped(const LeftOut& left_out, int steps) {
  std::vector<int> found;
  for (int n = 0; n < steps; ++n) {
    if (left_out.Skips(kStepNs * static_cast<std::uint64_t>(n) + kStepNs / 2)) found.push_back(n);
  }
  return found;
}

TEST(LeftOut, OfVeryManyStepsTheFirstAndTheNewestAreRead) {
  const LeftOut left_out = Of(Capture(1000).Bytes(), {kAll, 400});
  const std::vector<int> steps = StepsSkipped(left_out, 1000);
  EXPECT_GT(steps.front(), 5);  // after the first details
  EXPECT_LE(steps.front(), 100);
  EXPECT_GE(steps.back(), 600);
  EXPECT_LE(steps.back(), 720);
  EXPECT_EQ(left_out.skipped().steps, steps.size());
  EXPECT_EQ(steps.back() - steps.front() + 1, std::ssize(steps));
  EXPECT_EQ(left_out.skipped().time.start_ns, steps.front() * 1000);
  EXPECT_EQ(left_out.skipped().time.end_ns, (steps.back() + 1) * 1000);
  EXPECT_FALSE(left_out.Skips(static_cast<std::uint64_t>(left_out.skipped().time.start_ns)));  // steps end here
  EXPECT_FALSE(left_out.Skips(static_cast<std::uint64_t>(left_out.skipped().time.end_ns)));
  EXPECT_EQ(StepsLeftOut(left_out, 1000), steps);
  EXPECT_THAT(left_out.Warnings(0), ElementsAre(HasSubstr("steps of 0.0 to 0.0 s after the start are not looked at")));
}

TEST(LeftOut, WhatTheRecorderSkippedEndsWithWholeSteps) {
  CaptureBuilder capture = Capture(100);
  capture.header.skipped_from_ns = 10 * kStepNs + 300;
  capture.header.skipped_until_ns = 80 * kStepNs + 300;
  capture.header.skipped_steps = 1000;  // of which nothing is in the file
  const LeftOut left_out = Of(capture.Bytes(), {kAll, kAll});
  const std::vector<int> steps = StepsSkipped(left_out, 100);
  EXPECT_EQ(steps.front(), 10);
  EXPECT_EQ(steps.back(), 80);
  EXPECT_EQ(left_out.skipped().steps, 1071u);
  EXPECT_THAT(left_out.Warnings(0),
              ElementsAre(HasSubstr("1,071 steps of 0.0 to 0.0 s after the start were not kept")));
  capture.header.skipped_from_ns = UINT64_MAX;
  EXPECT_THAT(StepsSkipped(Of(capture.Bytes(), {kAll, kAll}), 100), IsEmpty());
  capture.header.skipped_from_ns = 0;
  capture.header.skipped_until_ns = UINT64_MAX;
  EXPECT_EQ(StepsSkipped(Of(capture.Bytes(), {kAll, kAll}), 100).size(), 100u);
}

TEST(LeftOut, TheFirstSwitchAfterWhatWasSkippedSaysWhatHeldBefore) {
  CaptureBuilder capture = Capture(20);
  capture.header.skipped_from_ns = 10 * kStepNs;
  capture.header.skipped_until_ns = 15 * kStepNs;
  const LeftOut left_out = Of(capture.Bytes(), {kAll, kAll});
  EXPECT_THAT(Marked(left_out, {Off(9000), Off(17'000), On(18'000)}),
              ElementsAre(Off(9000), On(10'000), Off(17'000), On(18'000)));
  EXPECT_THAT(Marked(left_out, {On(17'000)}), ElementsAre(Off(15'000), On(17'000)));
  EXPECT_THAT(Marked(left_out, {Off(9000), On(17'000)}), ElementsAre(Off(9000), On(10'000), Off(15'000), On(17'000)));
}

}  // namespace
}  // namespace loopscope
