// What devices did and why they were idle, on traces written by hand and, where available, on recorded ones.
#include "profiler/core/devices/device_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "profiler/core/report/report.h"
#include "profiler/core/timeline/hta.h"
#include "profiler/importers/importers.h"
#include "tests/support/case_reader.h"

namespace loopscope {
namespace {

using testing::HasSubstr;

Timeline TimelineOf(const std::string& steps) {
  auto cases = test::ParseCases("case inline\n" + steps + "  expect clear\n", "inline");
  if (!cases) throw std::runtime_error(cases.error().Message());
  return Timeline::Build(std::move(cases->at(0).trace));
}

// Mean per steady step, ms.
double IdleMs(const Timeline& timeline, IdleCause cause) {
  const DeviceTimes times = timeline.devices()[0].times();
  return static_cast<double>(times.idle_by(cause)) / 1e6 / static_cast<double>(timeline.steady().size());
}

std::int64_t SumOfCauses(const DeviceTimes& times) {
  return std::accumulate(times.causes.begin(), times.causes.end(), std::int64_t{0});
}

// A step of 10 ms: 4 ms in the loader, then kernels of 5 ms that the host waits for.
constexpr char kStarved[] = R"(
  step x10
    range loader 20us
    gap 3980us
    op aten::conv2d 100us graph
      launch conv 10us runs=5ms at=model.cpp:12
    range backward 5800us
    range optimizer 100us value=10
)";

TEST(DeviceTimeline, UnionsAndIdleFillTheWindow) {
  const Timeline timeline = TimelineOf(kStarved);
  ASSERT_EQ(timeline.devices().size(), 1u);
  const DeviceTimes times = timeline.devices()[0].times();
  EXPECT_EQ(times.span, 100'000'000);
  EXPECT_EQ(times.compute, 50'000'000);
  EXPECT_EQ(times.busy, 50'000'000);
  EXPECT_EQ(times.idle, 50'000'000);
  EXPECT_EQ(SumOfCauses(times), times.idle);
  EXPECT_NEAR(IdleMs(timeline, IdleCause::kLoader), 4, 0.03);
  EXPECT_NEAR(IdleMs(timeline, IdleCause::kLaunch), 1, 0.1);
}

TEST(DeviceTimeline, CausesSumToIdleInEachStep) {
  const Timeline timeline = TimelineOf(kStarved);
  const DeviceTimeline& device = timeline.devices()[0];
  for (const std::uint32_t index : timeline.steady()) {
    const DeviceTimes times = device.times(timeline.steps()[index].time);
    EXPECT_EQ(times.busy + times.idle, times.span);
    EXPECT_EQ(SumOfCauses(times), times.idle) << index;
  }
}

TEST(DeviceTimeline, LinksWorkToTheCallAndItsPlace) {
  const Timeline timeline = TimelineOf(kStarved);
  const EventRef launch = timeline.devices()[0].launch(3);
  ASSERT_NE(launch.thread, kNone);
  EXPECT_EQ(timeline.name(launch), "cudaLaunchKernel");
  ASSERT_NE(timeline.parent(launch), kNone);
  EXPECT_EQ(timeline.name({launch.thread, timeline.parent(launch)}), "aten::conv2d");
  ASSERT_NE(timeline.where(launch), nullptr);
  EXPECT_EQ(timeline.where(launch)->line, 12);
  EXPECT_NEAR(timeline.devices()[0].launch_delay_us(), 5, 0.01);
  EXPECT_EQ(timeline.devices()[0].queue_depth(), 0);
}

// The device runs dry while the host waits for it; the time until the next launch is the wait's.
TEST(DeviceTimeline, IdleAfterASynchronisation) {
  const Timeline timeline = TimelineOf(R"(
  step x10
    op aten::conv2d 100us graph
      launch conv 10us runs=3ms
    range backward 200us
    range optimizer 100us value=10
    op aten::item 2700us
      d2h 5us runs=2us pageable
      range sync 2690us name=cudaStreamSynchronize
    op aten::add 900us
)");
  EXPECT_NEAR(IdleMs(timeline, IdleCause::kHostSync), 1, 0.1);
  EXPECT_LT(IdleMs(timeline, IdleCause::kLaunch), 0.05);
  EXPECT_NEAR(timeline.part_ms(Part::kSyncWait), 2.69, 0.02);
}

// The host had lost its lead: its next launches find an empty queue, too.
TEST(DeviceTimeline, IdleBetweenTheLaunchesAfterASynchronisation) {
  const auto steps = [](const std::string& wait) {
    return TimelineOf(
        "  step x10\n    op aten::mul 200us x4 graph\n      launch mul 10us runs=50us\n"
        "    op aten::conv2d 100us graph\n      launch conv 10us runs=3ms\n"
        "    range backward 100us\n    range optimizer 100us value=10\n"
        "    op aten::item\n      d2h 5us runs=2us pageable\n      range sync " +
        wait + " name=cudaStreamSynchronize\n");
  };
  const Timeline long_wait = steps("2800us");
  EXPECT_NEAR(IdleMs(long_wait, IdleCause::kHostSync), 0.6, 0.1);  // four gaps of 150 us
  EXPECT_LT(IdleMs(long_wait, IdleCause::kLaunch), 0.07);          // in the first of ten steps, before any wait
}

// Without a wait that was short, the launches would have come only that much earlier.
TEST(DeviceTimeline, AShortWaitIsChargedForItsLength) {
  const Timeline timeline = TimelineOf(R"(
  step x10
    op aten::mul 200us x10 graph
      launch mul 10us runs=50us
    range backward 100us
    range optimizer 100us value=10
    op aten::item
      d2h 5us runs=2us pageable
      range sync 20us name=cudaStreamSynchronize
)");
  EXPECT_LT(IdleMs(timeline, IdleCause::kHostSync), 0.03);
  EXPECT_GT(IdleMs(timeline, IdleCause::kLaunch), 1.3);
}

// The same wait after a copy to the device belongs to the copy.
TEST(DeviceTimeline, IdleAfterABlockingCopy) {
  const Timeline timeline = TimelineOf(R"(
  step x10
    op aten::copy_ 2ms
      h2d 100us runs=1500us bytes=6MB pinned
      range sync 1550us name=cudaStreamSynchronize
    op aten::conv2d 900us graph
    op aten::conv2d 100us graph
      launch conv 10us runs=1ms
    range backward 200us
    range optimizer 900us value=10
)");
  EXPECT_NEAR(IdleMs(timeline, IdleCause::kCopy), 1.4, 0.2);
  EXPECT_EQ(IdleMs(timeline, IdleCause::kHostSync), 0);
  EXPECT_NEAR(timeline.part_ms(Part::kCopyToDevice), 1.65, 0.02);
  EXPECT_EQ(timeline.part_ms(Part::kSyncWait), 0);
}

TEST(DeviceTimeline, SmallKernelsWaitForTheirLaunches) {
  const Timeline timeline = TimelineOf(R"(
  step x10
    op aten::mul 50us x40 graph
      launch mul 10us runs=5us
    range backward 50us
    range optimizer 50us value=10
)");
  const DeviceTimes times = timeline.devices()[0].times();
  EXPECT_GT(static_cast<double>(times.idle_by(IdleCause::kLaunch)), 0.99 * static_cast<double>(times.idle));
}

// 5 ms of the program's own between the last operator and the next.
TEST(DeviceTimeline, UnknownHostWorkIsOther) {
  const Timeline timeline = TimelineOf(R"(
  step x10
    op aten::conv2d 100us graph
      launch conv 10us runs=1ms
    range backward 200us
    range optimizer 100us value=10
    gap 6ms
)");
  EXPECT_NEAR(IdleMs(timeline, IdleCause::kOther), 5.2, 0.3);
}

// A collective that was queued long ago and waits for another stream's work.
TEST(DeviceTimeline, QueuedCollectiveIsCommunication) {
  const Timeline timeline = TimelineOf(R"(
  step x10
    op aten::conv2d 100us graph
      launch conv 10us runs=1ms
      nccl ncclDevKernel_AllReduce 10us runs=2ms delay=3ms
    range backward 200us
    range optimizer 5ms value=10
)");
  EXPECT_NEAR(IdleMs(timeline, IdleCause::kCommunication), 2, 0.1);
  const DeviceTimes times = timeline.devices()[0].times();
  EXPECT_EQ(times.communication, 20'000'000);
  EXPECT_EQ(times.overlap, 0);
}

TEST(DeviceTimeline, OverlapIsWhatRanTogether) {
  const Timeline timeline = TimelineOf(R"(
  step x10
    op aten::conv2d 100us graph
      launch conv 10us runs=3ms
      nccl ncclDevKernel_AllReduce 10us runs=2ms
    range backward 200us
    range optimizer 5ms value=10
)");
  const DeviceTimes times = timeline.devices()[0].times();
  EXPECT_EQ(times.overlap, times.communication);
  EXPECT_EQ(times.busy, times.compute);
  EXPECT_DOUBLE_EQ(*GpuFactsOf(timeline)->comm_overlap_pct, 100);
}

TEST(DeviceTimeline, QueueDepthCountsWhatWaits) {
  const Timeline timeline = TimelineOf(R"(
  step x10
    op aten::mul 10us x10 graph
      launch mul 10us runs=1ms
    range backward 50us
    range optimizer 20ms value=10
)");
  // The i-th of ten launches finds i - 1 before it; the first of them has begun by the second's launch.
  EXPECT_NEAR(timeline.devices()[0].queue_depth(), (0 + 0 + 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8) / 10.0, 1e-9);
}

TEST(DeviceTimeline, WithoutStepsTheWindowIsAllWork) {
  Trace trace;
  Device device;
  for (int i = 0; i < 3; ++i) {
    DeviceEvent event;
    event.start_ns = i * 1000;
    event.end_ns = event.start_ns + 400;
    device.events.push_back(event);
  }
  trace.devices.push_back(device);
  const Timeline timeline = Timeline::Build(std::move(trace));
  ASSERT_EQ(timeline.devices().size(), 1u);
  const DeviceTimes times = timeline.devices()[0].times();
  EXPECT_EQ(times.span, 2400);
  EXPECT_EQ(times.busy, 1200);
  EXPECT_EQ(SumOfCauses(times), 1200);
  const Report report = ReportOf(std::make_shared<const Timeline>(timeline));
  ASSERT_TRUE(report.gpu);
  EXPECT_EQ(report.gpu->steps, 0);
  EXPECT_THAT(timeline.device_coverage().why_no_causes, HasSubstr("3 of 3 pieces"));
  EXPECT_EQ(report.gpu->idle_causes_us[0], std::nullopt);
  EXPECT_DOUBLE_EQ(*report.gpu->busy_pct, 50);
  EXPECT_THAT(testing::PrintToString(report.quality.warnings), HasSubstr("over the whole trace"));
}

TEST(DeviceTimeline, WaitsAreNoWork) {
  Trace trace;
  Device device;
  device.events.resize(2);
  device.events[0] = {.start_ns = 0, .end_ns = 1000};
  device.events[1] = {.start_ns = 1000, .end_ns = 9000, .kind = DeviceKind::kWait};
  trace.devices.push_back(device);
  const Timeline timeline = Timeline::Build(std::move(trace));
  EXPECT_EQ(timeline.devices()[0].times().span, 1000);
  EXPECT_EQ(HtaTimesOf(timeline)->total_us, 9);
  EXPECT_EQ(HtaTimesOf(timeline)->idle_us, 0);
  EXPECT_EQ(HtaTimesOf(timeline)->compute_us, 1);
}

// Starts are rounded up and ends down; the last profiler step and what it launched are left out. Work whose launch is
// not in the trace (correlation 9) counts.
TEST(Hta, DropsTheLastStepAndRounds) {
  Trace trace;
  trace.strings = {"", "ProfilerStep#3", "ProfilerStep#4", "cudaLaunchKernel", "gemm", "ncclDevKernel"};
  Thread thread;
  const auto range = [](std::int64_t start, std::int64_t end, StringId name, RangeCategory category,
                        std::uint32_t value) {
    Event event{.start_ns = start, .end_ns = end, .name = name, .value = value, .kind = EventKind::kRange};
    event.sub = static_cast<std::uint8_t>(category);
    return event;
  };
  thread.events = {range(0, 50'000, 1, RangeCategory::kUser, 0), range(100, 200, 3, RangeCategory::kDeviceCall, 1),
                   range(300, 400, 3, RangeCategory::kDeviceCall, 2), range(60'000, 90'000, 2, RangeCategory::kUser, 0),
                   range(61'000, 62'000, 3, RangeCategory::kDeviceCall, 3)};
  trace.threads.push_back(thread);
  Device device;
  device.events = {{.start_ns = 1'001, .end_ns = 5'999, .name = 4, .correlation = 1},
                   {.start_ns = 4'500, .end_ns = 7'400, .name = 5, .correlation = 2},
                   {.start_ns = 10'000, .end_ns = 11'000, .name = 4, .correlation = 9},
                   {.start_ns = 70'000, .end_ns = 71'000, .name = 4, .correlation = 3}};
  trace.devices.push_back(device);
  const auto times = HtaTimesOf(Timeline::Build(std::move(trace)));
  ASSERT_TRUE(times);
  EXPECT_EQ(times->total_us, 9);          // 2 … 11
  EXPECT_EQ(times->compute_us, 4);        // 2 … 5, 10 … 11
  EXPECT_EQ(times->communication_us, 2);  // 5 … 7
  EXPECT_EQ(times->idle_us, 3);
  EXPECT_EQ(*times->comm_overlap_pct, 0);
}

std::filesystem::path RecordedTraces() {
  if (const char* folder = std::getenv("LOOPSCOPE_TRACES"); folder && *folder) return folder;
  const auto repository = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  return repository.parent_path() / "shared" / "traces";
}

// expected.json holds an independent analyser's figures of each trace.
TEST(Hta, AgreesOnRecordedTraces) {
  const std::filesystem::path folder = RecordedTraces();
  std::ifstream file(folder / "expected.json");
  if (!file) GTEST_SKIP() << "no recorded traces: name their folder in LOOPSCOPE_TRACES";
  const nlohmann::json all = nlohmann::json::parse(file);
  ASSERT_FALSE(all.empty());
  for (const auto& [name, expected] : all.items()) {
    auto trace = ReadAnyTrace(folder / (name + ".json.gz"));
    ASSERT_TRUE(trace.ok()) << name << ": " << trace.error().Message();
    const auto gpu = GpuFactsByHta(Timeline::Build(std::move(*trace)));
    ASSERT_TRUE(gpu) << name;
    EXPECT_EQ(gpu->idle_us, expected["idle_us"].get<double>()) << name;
    EXPECT_EQ(gpu->compute_us, expected["compute_us"].get<double>()) << name;
    EXPECT_EQ(gpu->other_us, expected["non_compute_us"].get<double>()) << name;
    EXPECT_EQ(gpu->span_us, expected["total_us"].get<double>()) << name;
    if (expected["comm_overlap_pct"].is_null()) {
      EXPECT_FALSE(gpu->comm_overlap_pct) << name;
    } else {
      ASSERT_TRUE(gpu->comm_overlap_pct) << name;
      EXPECT_NEAR(*gpu->comm_overlap_pct, expected["comm_overlap_pct"].get<double>(), 0.005) << name;
    }
  }
}

}  // namespace
}  // namespace loopscope
