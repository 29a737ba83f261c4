// Whether a trace shows enough of what the devices did, and up to which step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "profiler/core/report/rank_summary.h"
#include "profiler/core/timeline/timeline.h"
#include "tests/support/case_reader.h"

namespace loopscope {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Trace TraceOf(const std::string& steps) {
  auto cases = test::ParseCases("case inline\n" + steps + "  expect clear\n", "inline");
  if (!cases) throw std::runtime_error(cases.error().Message());
  return std::move(cases->at(0).trace);
}

Timeline TimelineOf(const std::string& steps) {
  return Timeline::Build(TraceOf(steps));
}

std::string Steps(int count, const std::string& launch) {
  return "  step x" + std::to_string(count) +
         "\n    op aten::linear 1ms graph\n    range backward 1ms\n    range optimizer 1ms value=10\n    " + launch +
         "\n";
}

const std::string kGraph = "graph 10us runs=1ms", kLostGraph = "graph 10us";
const std::string kKernel = "launch gemm 10us runs=1ms", kLostKernel = "launch gemm 10us";

TEST(DeviceCoverage, SaysWhyNothingCanBeSaid) {
  EXPECT_FALSE(TimelineOf("  step x5\n    op aten::conv2d 1ms graph\n    range backward 1ms\n").device_coverage().used);
  const Timeline bare = TimelineOf("  step x5\n    range backward 1ms\n    launch conv 10us\n");
  EXPECT_TRUE(bare.device_coverage().used);
  EXPECT_THAT(bare.device_coverage().why_not, HasSubstr("no times"));
  const Timeline graphs =
      TimelineOf("  step x5\n    range backward 1ms\n    launch conv 10us runs=1ms\n    graph 10us\n");
  EXPECT_THAT(graphs.device_coverage().why_not, HasSubstr("CUDA graphs"));
  const Timeline half =
      TimelineOf("  step x5\n    range backward 1ms\n    launch conv 10us runs=1ms\n    launch x 9us\n");
  EXPECT_THAT(half.device_coverage().why_not, HasSubstr("4 of 8 kernel launches"));
  const Timeline all = TimelineOf(Steps(5, kKernel));
  EXPECT_EQ(all.device_coverage().why_not, "");
  EXPECT_EQ(all.device_coverage().why_no_causes, "");
}

// From where the program's own profiler took the records, nothing of the devices is known, and nothing is concluded.
TEST(DeviceCoverage, EndsWhereTheProbeMadeRoom) {
  const std::string bare =
      "  step x6\n    op aten::linear 1ms graph\n    range backward 1ms\n    range optimizer 1ms\n";
  const auto left_after = [&](std::size_t steps) {
    Trace trace = TraceOf(Steps(10, kKernel) + bare);
    const Timeline whole = Timeline::Build(trace);
    trace.marks.push_back({.time_ns = whole.steps()[steps].time.start_ns,
                           .kind = MarkKind::kProbeOff,
                           .value = static_cast<std::uint64_t>(wire::ProbeId::kDevices)});
    return Timeline::Build(std::move(trace));
  };
  const Timeline timeline = left_after(10);
  EXPECT_EQ(timeline.device_coverage().why_not, "");
  EXPECT_THAT(timeline.trace().quality.warnings, Contains(HasSubstr("leaves out the last 6 of")));
  EXPECT_THAT(left_after(0).device_coverage().why_not, HasSubstr("torch.profiler was active"));
}

// Killed, interrupted or not synchronised at its end, a program leaves launches whose work was never recorded.
TEST(DeviceCoverage, WhatWasLaunchedLastIsLeftOut) {
  for (const auto& [kept, lost] : {std::pair(kGraph, kLostGraph), std::pair(kKernel, kLostKernel)}) {
    const Timeline timeline = TimelineOf(Steps(10, kept) + Steps(2, lost));
    EXPECT_EQ(timeline.device_coverage().why_not, "") << lost;
    EXPECT_THAT(timeline.steady(), SizeIs(10)) << lost;
    EXPECT_EQ(timeline.devices()[0].times().span, 10 * 3'010'000) << "no idle time of steps that were not recorded";
    EXPECT_THAT(timeline.trace().quality.warnings, Contains(HasSubstr("leaves out the last 2 of 12 steps"))) << lost;
  }
  EXPECT_THAT(TimelineOf(Steps(10, kKernel)).trace().quality.warnings, IsEmpty());
}

TEST(DeviceCoverage, AFewUnrecordedLaunchesAreAllowed) {
  const Timeline few = TimelineOf(Steps(20, kGraph) + Steps(1, kLostGraph) + Steps(20, kGraph));
  EXPECT_EQ(few.device_coverage().why_not, "");
  EXPECT_THAT(few.steady(), SizeIs(41));
  const Timeline many = TimelineOf(Steps(5, kGraph) + Steps(1, kLostGraph) + Steps(5, kGraph));
  EXPECT_THAT(many.device_coverage().why_not, HasSubstr("1 of 11 launches of CUDA graphs"));
  const Timeline kernels = TimelineOf(Steps(5, kKernel) + Steps(1, kLostKernel) + Steps(5, kKernel));
  EXPECT_THAT(kernels.device_coverage().why_not, HasSubstr("1 of 11 kernel launches"));
}

// A single missing record is not enough to drop a step.
TEST(DeviceCoverage, AStepMayMissAFewAtItsEnd) {
  std::string launches;
  for (int i = 0; i < 30; ++i) launches += kKernel + "\n    ";
  EXPECT_THAT(TimelineOf(Steps(5, launches + kLostKernel)).steady(), SizeIs(5));
}

TEST(DeviceCoverage, WithoutAnyRecordAfterAllNoStepIsLeftOut) {
  const Timeline timeline = TimelineOf(Steps(10, kKernel + "\n    " + kLostGraph));
  EXPECT_THAT(timeline.steady(), SizeIs(9)) << "only the last launch has nothing recorded after it";
  EXPECT_THAT(timeline.device_coverage().why_not, HasSubstr("9 of 9 launches of CUDA graphs"));
}

// A driver call inside a runtime call is the same launch, whichever of them the work names.
TEST(DeviceCoverage, NestedCallsAreOneLaunch) {
  EXPECT_EQ(TimelineOf(Steps(5, kKernel + "\n      launch gemm 5us")).device_coverage().why_not, "");
  EXPECT_EQ(TimelineOf(Steps(5, kLostKernel + "\n      launch gemm 5us runs=1ms")).device_coverage().why_not, "");
  EXPECT_EQ(
      TimelineOf(Steps(5, kKernel + "\n    memset 10us runs=1us\n      launch fill 5us")).device_coverage().why_not,
      "");
  EXPECT_THAT(TimelineOf(Steps(5, kLostKernel + "\n      launch gemm 5us\n    " + kKernel)).device_coverage().why_not,
              HasSubstr("5 of 10 kernel launches"));
}

// What CUPTI still held when the program was killed is lost, calls and work alike: the devices were not idle then.
TEST(DeviceCoverage, AKilledProgramIsJudgedUpToTheLastRecord) {
  const std::string steps = Steps(20, kKernel) + Steps(4, "gap 1us");
  EXPECT_THAT(TimelineOf(steps).steady(), SizeIs(24));
  Trace killed = TraceOf(steps);
  killed.quality.clean_end = false;
  const Timeline timeline = Timeline::Build(std::move(killed));
  EXPECT_THAT(timeline.steady(), SizeIs(19)) << "the twentieth may have gone on";
  EXPECT_EQ(timeline.device_coverage().why_not, "");
  EXPECT_THAT(timeline.trace().quality.warnings, Contains(HasSubstr("leaves out the last 5 of 24 steps")));
}

// Other formats report themselves when and where they are cut off.
TEST(DeviceCoverage, OtherFormatsEndWhereTheyEnd) {
  Trace trace = TraceOf(Steps(10, kKernel) + Steps(4, "gap 1us"));
  trace.quality.clean_end = false;
  trace.run.source = "kineto";
  EXPECT_THAT(Timeline::Build(std::move(trace)).steady(), SizeIs(14));
}

// On the CPU a call takes as long as the exchange.
TEST(DeviceCoverage, WithoutRecordsRanksDoNotSeeThemselvesCommunicate) {
  const std::string exchange = "range communication 1ms\n    ";
  EXPECT_TRUE(SummarizeRank(TimelineOf(Steps(5, exchange)), "").communication_seen);
  EXPECT_FALSE(SummarizeRank(TimelineOf(Steps(5, exchange + kLostKernel)), "").communication_seen);
}

// Programs ask for devices, and pin the loader's memory, wherever they compute.
TEST(DeviceCoverage, NotAllCallsMakeAProgramOneOfAGpu) {
  for (const std::string call : {"cudaHostAlloc", "cudaMallocHost", "cuMemAllocHost", "cudaGetDeviceCount"}) {
    EXPECT_FALSE(TimelineOf(Steps(5, "range call 1ms name=" + call)).device_coverage().used) << call;
  }
  EXPECT_FALSE(TimelineOf(Steps(5, "range sync 1ms name=cudaDeviceSynchronize")).device_coverage().used);
  for (const std::string call :
       {"cudaMalloc", "cuMemAllocAsync", "cuMemCreate", "cudaMemcpyAsync", "cuLaunchKernelEx"}) {
    const Timeline timeline = TimelineOf(Steps(5, "range call 1ms name=" + call));
    EXPECT_TRUE(timeline.device_coverage().used) << call;
    EXPECT_THAT(timeline.device_coverage().why_not, HasSubstr("a torch whose CUPTI can be loaded")) << call;
  }
}

TEST(DeviceCoverage, WithoutStepsTheEndIsLeftOutToo) {
  Trace trace;
  trace.strings = {"", "cudaLaunchKernel", "gemm"};
  Thread thread;
  Device device;
  for (std::uint32_t i = 1; i <= 5; ++i) {
    const std::int64_t at = 1000 * std::int64_t{i};
    Event call{.start_ns = at, .end_ns = at + 100, .name = 1, .value = i, .kind = EventKind::kRange};
    call.sub = static_cast<std::uint8_t>(RangeCategory::kDeviceCall);
    thread.events.push_back(call);
    if (i <= 3) device.events.push_back({.start_ns = at + 50, .end_ns = at + 500, .name = 2, .correlation = i});
  }
  trace.threads.push_back(thread);
  trace.devices.push_back(device);
  EXPECT_EQ(Timeline::Build(std::move(trace)).device_coverage().why_not, "");
}

}  // namespace
}  // namespace loopscope
