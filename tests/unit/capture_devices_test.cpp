// What a capture records of devices: work on them, and the calls that launched it, reported by threads of CUPTI's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "profiler/core/timeline/timeline.h"
#include "profiler/importers/importers.h"
#include "tests/support/capture_builder.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;
using test::CaptureBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using wire::CopyWay, wire::DeviceWork, wire::MarkKind;

constexpr std::uint32_t kPid = 100, kTrainer = 100, kCuptiThread = 777;

class CaptureDevices : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              ("capture_devices_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Work(DeviceWork kind, std::string_view name, std::uint64_t start_ns, std::uint64_t end_ns,
            std::uint32_t correlation, CopyWay way = CopyWay::kNone, std::uint8_t flags = 0, std::uint32_t device = 0) {
    capture_.On(kPid, kCuptiThread);
    wire::DeviceRecord work{};
    work.head = {wire::RecordKind::kDevice, static_cast<std::uint8_t>(kind), 0};
    work.name = name.empty() ? 0 : capture_.String(name);
    work.start_ns = start_ns;
    work.duration_ns = end_ns - start_ns;
    work.bytes = 64;
    work.device = device;
    work.stream = 7;
    work.correlation = correlation;
    work.way = way;
    work.flags = flags;
    capture_.Write(work);
  }

  void Call(std::string_view name, std::uint64_t start_ns, std::uint64_t end_ns, std::uint32_t correlation,
            std::uint32_t tid = kTrainer) {
    capture_.On(kPid, kCuptiThread);
    capture_.Write(wire::DeviceCallRecord{
        {wire::RecordKind::kDeviceCall, 0, 0}, capture_.String(name), start_ns, end_ns - start_ns, correlation, tid});
  }

  Trace Read() {
    capture_.Save(folder_ / "train-100.cap");
    Result<Trace> trace = ReadAnyTrace(folder_);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().Message());
    return trace ? std::move(*trace) : Trace{};
  }

  fs::path folder_;
  CaptureBuilder capture_;
};

TEST_F(CaptureDevices, KernelsCopiesAndCollectives) {
  capture_.Fact("device.1.name", "NVIDIA H200");
  Work(DeviceWork::kKernel, "_Z4gemmPfi", 2000, 3000, 2, CopyWay::kNone, 0, 1);
  Work(DeviceWork::kCopy, "", 1000, 1500, 1, CopyWay::kHostToDevice, wire::kWorkPageable | wire::kWorkAsync, 1);
  Work(DeviceWork::kKernel, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 4000, 5000, 3, CopyWay::kNone, 0, 1);
  Work(DeviceWork::kGraph, "", 6000, 7000, 4, CopyWay::kNone, 0, 1);
  const Trace trace = Read();
  ASSERT_THAT(trace.devices, SizeIs(1));
  EXPECT_EQ(trace.devices[0].name, "NVIDIA H200");
  EXPECT_THAT(trace.run.gpus, ElementsAre("NVIDIA H200")) << "where the launcher saw none";
  EXPECT_EQ(trace.devices[0].ordinal, 1u);
  const auto& events = trace.devices[0].events;
  ASSERT_THAT(events, SizeIs(4));
  EXPECT_EQ(trace.text(events[0].name), "Memcpy HtoD");
  EXPECT_EQ(events[0].copy, CopyKind::kHostToDevice);
  EXPECT_EQ(events[0].flags, kDevicePageable) << "such a copy is not asynchronous, whatever the call was";
  EXPECT_EQ(events[0].bytes, 64u);
  EXPECT_EQ(trace.text(events[1].name), "gemm(float*, int)");
  EXPECT_EQ(events[1].kind, DeviceKind::kKernel);
  EXPECT_EQ(events[2].kind, DeviceKind::kCommunication);
  ASSERT_LT(events[2].group, trace.collectives.size());
  EXPECT_EQ(trace.text(trace.collectives[events[2].group].operation), "allreduce");
  EXPECT_EQ(events[3].kind, DeviceKind::kGraph);
  EXPECT_EQ(trace.quality.events, 4u);
}

TEST_F(CaptureDevices, CallsGoToTheThreadThatMadeThem) {
  capture_.On(kPid, kTrainer);
  const std::uint32_t stack = capture_.Stack({0});
  capture_.Op("aten::linear", 1000, 2000);
  capture_.Range(wire::RangeCategory::kLoader, "RandomSampler", 3000, 3100, 32, stack);
  Call("cudaStreamSynchronize_v3020", 2500, 2900, 6);
  Call("cudaLaunchKernel_v7000", 1100, 1200, 5);
  Call("cuMemcpyHtoDAsync_v2", 5000, 5100, 7, 4321);
  const Trace trace = Read();
  ASSERT_THAT(trace.threads, SizeIs(2)) << "CUPTI's own thread did nothing";
  std::vector<std::string_view> names;
  for (const Event& event : trace.threads[0].events) names.push_back(trace.text(event.name));
  EXPECT_THAT(names, ElementsAre("aten::linear", "cudaLaunchKernel", "cudaStreamSynchronize", "RandomSampler"));
  EXPECT_TRUE(trace.threads[0].events[1].is_range(RangeCategory::kDeviceCall));
  EXPECT_EQ(trace.threads[0].events[1].value, 5u);
  EXPECT_TRUE(trace.threads[0].events[2].is_range(RangeCategory::kSync));
  EXPECT_THAT(trace.range_stacks, ElementsAre(testing::Pair(3u, 0u))) << "the loader's stack moved with it";
  EXPECT_EQ(trace.threads[1].tid, 4321u);
}

TEST_F(CaptureDevices, AKernelIsLinkedToItsCall) {
  capture_.On(kPid, kTrainer);
  for (std::uint64_t step = 0; step < 20; ++step) {
    const std::uint64_t at = 1'000'000 * (step + 1);
    capture_.On(kPid, kTrainer);
    capture_.Op("aten::linear", at, at + 400'000, wire::kOpGraph | wire::kOpOutermost);
    capture_.Range(wire::RangeCategory::kBackward, "backward", at + 400'000, at + 800'000);
    capture_.Mark(MarkKind::kStepEnd, "optimizer:SGD#1", at + 900'000, 32);
    const auto correlation = static_cast<std::uint32_t>(step + 1);
    Call("cudaLaunchKernel_v7000", at + 100'000, at + 105'000, correlation);
    Work(DeviceWork::kKernel, "gemm", at + 110'000, at + 610'000, correlation);
  }
  const Timeline timeline = Timeline::Build(Read());
  ASSERT_THAT(timeline.devices(), SizeIs(1));
  const DeviceTimeline& device = timeline.devices()[0];
  EXPECT_NEAR(device.launch_delay_us(), 10, 1e-9);
  const EventRef launch = device.launch(3);
  ASSERT_NE(launch.thread, kNone);
  EXPECT_EQ(timeline.name(launch), "cudaLaunchKernel");
  const DeviceTimes times = device.times();
  EXPECT_EQ(times.busy + times.idle, times.span);
  EXPECT_NEAR(static_cast<double>(times.busy) / static_cast<double>(times.span), 0.5, 0.01);
}

TEST_F(CaptureDevices, WithTorchsProfilerNothingIsSaidOfTheDevice) {
  capture_.On(kPid, kTrainer);
  capture_.Op("aten::linear", 1000, 2000, wire::kOpProfiler);
  Work(DeviceWork::kKernel, "gemm", 1100, 1900, 1);
  EXPECT_THAT(Timeline::Build(Read()).device_coverage().why_not, HasSubstr("torch.profiler was active"));
}

TEST_F(CaptureDevices, WhatWasLostIsSaid) {
  capture_.Fact("cupti.dropped", "12");
  capture_.Fact("cupti.bad_times", "3");
  Work(DeviceWork::kKernel, "gemm", 1000, 2000, 1);
  Work(DeviceWork::kKernel, "gemm", 1ull << 62, (1ull << 62) + 5, 2);
  const Trace trace = Read();
  EXPECT_EQ(trace.quality.dropped, 12u);
  EXPECT_THAT(trace.quality.warnings, Contains(HasSubstr("12 records of the GPU were lost")));
  EXPECT_THAT(trace.quality.warnings, Contains(HasSubstr("3 records of the GPU had no or impossible times")));
  EXPECT_THAT(trace.quality.warnings, Contains(HasSubstr("1 records had impossible times")));
  EXPECT_THAT(trace.devices[0].events, SizeIs(1));
}

TEST_F(CaptureDevices, GraphsAndSlicesAreSaid) {
  Work(DeviceWork::kKernel, "gemm", 1000, 2000, 1);
  EXPECT_THAT(Read().quality.warnings, IsEmpty());
  capture_.Fact("device.0.mig", "1/0");
  Work(DeviceWork::kGraph, "", 3000, 4000, 2);
  EXPECT_THAT(Read().quality.warnings,
              testing::UnorderedElementsAre(HasSubstr("CUDA graphs were recorded as a whole"),
                                            HasSubstr("cuda:0 is a slice of a GPU (MIG 1/0)")));
}

constexpr std::uint32_t kOnHost = 0x7fffffff;  // CUPTI's device of a CUDA graph that begins on the host

TEST_F(CaptureDevices, AGraphThatBeginsOnTheHostIsTheOnlyDevices) {
  Work(DeviceWork::kKernel, "gemm", 5000, 6000, 1, CopyWay::kNone, 0, 3);
  Work(DeviceWork::kGraph, "", 3000, 4000, 2, CopyWay::kNone, 0, kOnHost);
  const Trace trace = Read();
  ASSERT_THAT(trace.devices, SizeIs(1));
  EXPECT_EQ(trace.devices[0].ordinal, 3u);
  ASSERT_THAT(trace.devices[0].events, SizeIs(2));
  EXPECT_EQ(trace.devices[0].events[0].kind, DeviceKind::kGraph) << "in order of time";
  EXPECT_THAT(trace.quality.warnings, testing::Not(Contains(HasSubstr("left out"))));
}

TEST_F(CaptureDevices, SuchGraphsAloneAreTheOnlyDevicesThatIsNamed) {
  capture_.Fact("device.0.name", "NVIDIA H200");
  Work(DeviceWork::kGraph, "", 3000, 4000, 2, CopyWay::kNone, 0, kOnHost);
  const Trace trace = Read();
  ASSERT_THAT(trace.devices, SizeIs(1));
  EXPECT_EQ(trace.devices[0].name, "NVIDIA H200");
  EXPECT_THAT(trace.devices[0].events, SizeIs(1));
}

TEST_F(CaptureDevices, OfSeveralDevicesItIsNoneAndThatIsSaid) {
  Work(DeviceWork::kKernel, "gemm", 1000, 2000, 1, CopyWay::kNone, 0, 0);
  Work(DeviceWork::kKernel, "gemm", 1000, 2000, 2, CopyWay::kNone, 0, 1);
  Work(DeviceWork::kGraph, "", 3000, 4000, 3, CopyWay::kNone, 0, kOnHost);
  const Trace trace = Read();
  ASSERT_THAT(trace.devices, SizeIs(2));
  EXPECT_THAT(trace.devices[0].events, SizeIs(1));
  EXPECT_THAT(trace.devices[1].events, SizeIs(1));
  EXPECT_THAT(trace.quality.warnings, Contains(HasSubstr("left out 1 record of GPU work")));
}

TEST_F(CaptureDevices, NoMoreMemoryIsSaid) {
  Work(DeviceWork::kKernel, "gemm", 1000, 2000, 1);
  const char* const said = "cuda:0 ran out of memory: 512.0 MB were requested, 100.0 of 8000.0 MB were free";
  capture_.On(kPid, kTrainer);
  capture_.Mark(MarkKind::kProbeOff, said, 0);
  capture_.Mark(MarkKind::kProbeOff, said, 0);
  EXPECT_THAT(Read().quality.warnings, ElementsAre(said)) << "once, however often it came about";
}

TEST_F(CaptureDevices, ADeviceThatTwoProcessesUseIsOne) {
  Work(DeviceWork::kKernel, "gemm", 3000, 4000, 1);
  CaptureBuilder other;
  other.On(200, 778);
  wire::DeviceRecord work{};
  work.head = {wire::RecordKind::kDevice, static_cast<std::uint8_t>(DeviceWork::kKernel), 0};
  work.name = other.String("relu");
  work.start_ns = 1000;
  work.duration_ns = 500;
  other.Write(work);
  other.Save(folder_ / "worker-200.cap");
  const Trace trace = Read();
  ASSERT_THAT(trace.devices, SizeIs(1));
  ASSERT_THAT(trace.devices[0].events, SizeIs(2));
  EXPECT_EQ(trace.text(trace.devices[0].events[0].name), "relu");
  EXPECT_EQ(trace.text(trace.devices[0].events[1].name), "gemm");
}

TEST_F(CaptureDevices, WithoutSuchRecordsThereIsNoDevice) {
  capture_.On(kPid, kTrainer);
  capture_.Op("aten::linear", 1000, 2000);
  EXPECT_THAT(Read().devices, IsEmpty());
}

}  // namespace
}  // namespace loopscope
