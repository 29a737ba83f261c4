#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "profiler/core/timeline/timeline.h"
#include "profiler/importers/importers.h"
#include "profiler/importers/nsys.h"
#include "tests/support/nsys_builder.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;
using test::GlobalTid;
using test::NsysBuilder;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class NsysImporter : public testing::Test {
 protected:
  NsysImporter() {
    std::string pattern = fs::temp_directory_path() / "loopscope-nsys-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~NsysImporter() override { fs::remove_all(folder_); }

  fs::path File(const std::string& name = "trace.sqlite") const { return folder_ / name; }

  static Trace Read(const fs::path& path, std::uint32_t process = 0) {
    Result<Trace> trace = ReadAnyTrace(path, process);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().Message());
    return trace ? std::move(*trace) : Trace{};
  }

  fs::path folder_;
};

// Ten steps of 10 ms: a launch, a kernel, a copy of the batch, a sync; on thread 7 of process 5.
void AddTraining(NsysBuilder& nsys, std::int64_t pid = 5, std::int64_t device = 0) {
  for (std::int64_t step = 0; step < 10; ++step) {
    const std::int64_t at = 1'000'000'000 + step * 10'000'000;
    nsys.Range(pid, 7, "iteration " + std::to_string(step), at, at + 9'000'000);
    nsys.Range(pid, 7, "forward", at + 1'000'000, at + 2'000'000);
    nsys.Call(pid, 7, "cudaLaunchKernel_v7000", at + 1'100'000, at + 1'200'000, 100 + step);
    nsys.Kernel(pid, device, 7, "gemm", at + 1'300'000, at + 4'000'000, 100 + step);
    nsys.Range(pid, 7, "backward", at + 2'000'000, at + 3'000'000);
    nsys.Call(pid, 7, "cudaStreamSynchronize_v3020", at + 5'000'000, at + 8'000'000, 200 + step);
  }
}

const Event* FindEvent(const Trace& trace, std::string_view name) {
  for (const Thread& thread : trace.threads) {
    for (const Event& event : thread.events) {
      if (trace.text(event.name) == name) return &event;
    }
  }
  return nullptr;
}

std::vector<std::string_view> Collected(const Trace& trace, DeviceKind kind) {
  std::vector<std::string_view> names;
  for (const Device& device : trace.devices) {
    for (const DeviceEvent& event : device.events) {
      if (event.kind == kind) names.push_back(trace.text(event.name));
    }
  }
  return names;
}

// A payload as Nsight Systems keeps it, in SQL's hexadecimal notation: a communicator, and the size of a message.
std::string Payload(std::uint32_t schema, std::uint64_t communicator, std::uint64_t bytes) {
  std::string hex = "x'";
  const auto add = [&](std::uint64_t number, int size) {
    for (int i = 0; i < size; ++i) {
      char byte[3];
      std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned>(number >> 8 * i & 0xff));
      hex += byte;
    }
  };
  add(1, 4), add(0, 4), add(schema, 4), add(0, 4), add(16, 8), add(48, 8);
  add(communicator, 8), add(bytes, 8);
  return hex + "'";
}

// Adds to the column that this schema lacks.
void SetPayload(NsysBuilder& nsys, std::string_view range, const std::string& payload) {
  nsys.Run("UPDATE NVTX_EVENTS SET binaryData = " + payload + " WHERE text = '" + std::string(range) + "'");
}

TEST_F(NsysImporter, NcclSaysItsCommunicatorsAndSizes) {
  NsysBuilder nsys(File());
  nsys.Range(5, 7, "ncclCommInitRank", 100, 200);
  // One that launches its kernel itself; two of a group; one whose payload is cut off.
  nsys.Range(5, 7, "ncclAllReduce", 1000, 2000);
  nsys.Call(5, 7, "cudaLaunchKernelExC_v11060", 1500, 1600, 1);
  nsys.Kernel(5, 0, 20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1700, 5000, 1);
  nsys.Range(5, 7, "ncclAllGather", 6000, 6100);
  nsys.Range(5, 7, "ncclAllGather", 6200, 6300);
  nsys.Call(5, 7, "cudaLaunchKernelExC_v11060", 6500, 6600, 2);
  nsys.Kernel(5, 0, 20, "ncclDevKernel_AllGather_RING_LL", 6700, 9000, 2);
  nsys.Range(5, 7, "ncclReduceScatter", 9100, 9300);
  nsys.Call(5, 7, "cudaLaunchKernelExC_v11060", 9200, 9250, 3);
  nsys.Kernel(5, 0, 20, "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", 9300, 9900, 3);
  nsys.Run("ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData BLOB");
  nsys.Run(
      "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER, type INTEGER, "
      "name TEXT, offset INTEGER)");
  nsys.Run(
      "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 77, 0, 18, 'NCCL communicator ID', NULL), "
      "(1, 77, 1, 5, 'No. of ranks', 8), (1, 78, 0, 18, 'NCCL communicator ID', NULL), "
      "(1, 78, 1, 22, 'Message size [bytes]', 8)");
  SetPayload(nsys, "ncclCommInitRank", Payload(77, 0xabc, 4));
  SetPayload(nsys, "ncclAllReduce", Payload(78, 0xabc, 1 << 20));
  SetPayload(nsys, "ncclAllGather", Payload(78, 0xabc, 1 << 10));
  SetPayload(nsys, "ncclReduceScatter", Payload(78, 0xabc, 1 << 10).substr(0, 92) + "'");
  const Trace trace = Read(nsys.Close());
  ASSERT_EQ(trace.devices.size(), 1u);
  ASSERT_EQ(trace.devices[0].events.size(), 3u);
  const auto collective = [&](std::size_t i) { return trace.collectives[trace.devices[0].events[i].group]; };
  EXPECT_EQ(trace.text(collective(0).operation), "allreduce");
  EXPECT_EQ(trace.text(collective(0).group), "0xabc");
  EXPECT_EQ(collective(0).ranks, 4);
  EXPECT_EQ(trace.devices[0].events[0].bytes, 1u << 20);
  EXPECT_EQ(trace.text(collective(1).operation), "allgather");
  EXPECT_EQ(trace.text(collective(1).group), "0xabc");
  EXPECT_EQ(trace.devices[0].events[1].bytes, 2u * 4u << 10) << "both calls', of four ranks";
  EXPECT_EQ(trace.text(collective(2).group), "");
  EXPECT_EQ(trace.devices[0].events[2].bytes, 0u);
}

TEST_F(NsysImporter, StepsComeFromNumberedRanges) {
  NsysBuilder nsys(File());
  AddTraining(nsys);
  const Timeline timeline = Timeline::Build(Read(nsys.Close()));
  EXPECT_EQ(timeline.clock(), "nvtx:iteration");
  ASSERT_EQ(timeline.steps().size(), 10u);
  EXPECT_NEAR(timeline.mean_step_ms(), 10, 1e-9);
  EXPECT_NEAR(timeline.part_ms(Part::kBackward), 1, 1e-9);
  EXPECT_EQ(timeline.trace().run.source, "nsys");
}

TEST_F(NsysImporter, SurerAndOuterRangesCountAsSteps) {
  NsysBuilder nsys(File());
  for (std::int64_t i = 0; i < 8; ++i) {
    nsys.Range(5, 7, "layer " + std::to_string(i), i * 100, i * 100 + 10);
    nsys.Range(5, 7, "batch " + std::to_string(i), i * 100, i * 100 + 20);
    if (i < 4) nsys.Range(5, 7, "train_step " + std::to_string(i), i * 200, i * 200 + 150);
    if (i < 4) nsys.Range(5, 7, "train_step " + std::to_string(i), i * 200 + 10, i * 200 + 20);
  }
  const Trace trace = Read(nsys.Close());
  std::vector<std::int64_t> ends;
  for (const Mark& mark : trace.marks) ends.push_back(mark.time_ns);
  EXPECT_THAT(ends, testing::ElementsAre(150, 350, 550, 750));
  EXPECT_EQ(trace.text(trace.marks[0].name), "nvtx:train_step");
}

TEST_F(NsysImporter, DeviceEventsAreLinkedToTheirCalls) {
  NsysBuilder nsys(File());
  AddTraining(nsys);
  const Trace trace = Read(nsys.Close());
  const Event* launch = FindEvent(trace, "cudaLaunchKernel");
  const Event* sync = FindEvent(trace, "cudaStreamSynchronize");
  ASSERT_TRUE(launch && sync);
  EXPECT_TRUE(launch->is_range(RangeCategory::kDeviceCall));
  EXPECT_TRUE(sync->is_range(RangeCategory::kSync));
  EXPECT_EQ(launch->value, 100u);
  EXPECT_EQ(sync->value, 200u);
  ASSERT_EQ(trace.devices.size(), 1u);
  ASSERT_EQ(trace.devices[0].events.size(), 10u);
  EXPECT_EQ(trace.devices[0].events[0].correlation, 100u);
  EXPECT_EQ(trace.devices[0].events[0].duration_ns(), 2'700'000);
}

TEST_F(NsysImporter, CopiesTellTheirMemory) {
  NsysBuilder nsys(File());
  AddTraining(nsys);
  nsys.Call(5, 7, "cudaMemcpyAsync_v3020", 1'000, 1'100, 1);
  const std::string process = std::to_string(GlobalTid(5));
  nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1200, 1300, 0, 7, 1, " + process + ", 64, 1, 1, 2)");
  nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1400, 1500, 0, 7, 2, " + process + ", 32, 1, 0, 2)");
  nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1600, 1700, 0, 7, 3, " + process + ", 16, 2, 2, 1)");
  nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1800, 1900, 0, 7, 4, " + process + ", 8, 8, 2, 2)");
  nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (2000, 2100, 0, 7, 5, " + process + ", 4)");
  const Trace trace = Read(nsys.Close());
  const std::vector<DeviceEvent>& events = trace.devices.at(0).events;
  ASSERT_GE(events.size(), 5u);
  EXPECT_EQ(events[0].flags, kDevicePinned | kDeviceAsync);
  EXPECT_EQ(events[1].flags, kDevicePageable);
  EXPECT_EQ(events[1].copy, CopyKind::kHostToDevice);
  EXPECT_EQ(events[2].copy, CopyKind::kDeviceToHost);
  EXPECT_EQ(events[2].flags, kDevicePinned);
  EXPECT_EQ(events[3].copy, CopyKind::kDeviceToDevice);
  EXPECT_EQ(events[3].flags, 0);
  EXPECT_EQ(events[3].bytes, 8u);
  EXPECT_EQ(events[4].kind, DeviceKind::kMemset);
}

TEST_F(NsysImporter, StreamWaitsAreNoWorkAndHostWaitsNoDeviceEvents) {
  NsysBuilder nsys(File());
  AddTraining(nsys);
  const std::string process = std::to_string(GlobalTid(5));
  nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (10, 20, 0, 7, 1, " + process + ", 2)");
  nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (30, 99, 0, 7, 2, " + process + ", 3)");
  const Trace trace = Read(nsys.Close());
  EXPECT_THAT(Collected(trace, DeviceKind::kWait), testing::ElementsAre("Stream Wait Event"));
}

TEST_F(NsysImporter, CollectivesAreToldByTheirKernels) {
  NsysBuilder nsys(File());
  AddTraining(nsys);
  nsys.Kernel(5, 0, 9, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 500, 900);
  nsys.Kernel(5, 0, 9, "multimem_all_reduce_kernel", 1500, 1900);
  nsys.Kernel(5, 0, 9, "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", 2500, 2900);
  const Trace trace = Read(nsys.Close());
  std::vector<std::string_view> operations;
  for (const DeviceEvent& event : trace.devices.at(0).events) {
    if (event.kind == DeviceKind::kCommunication) {
      operations.push_back(trace.text(trace.collectives.at(event.group).operation));
    }
  }
  EXPECT_THAT(operations, testing::ElementsAre("allreduce", "allreduce", "reducescatter"));
}

TEST_F(NsysImporter, EmitNvtxRangesAreOperators) {
  NsysBuilder nsys(File());
  AddTraining(nsys);
  nsys.Range(5, 7, "aten::linear, seq = 3, op_id = 1, sizes = [[32, 64], [10, 64], []]", 100, 200);
  nsys.Range(5, 7, "aten::addmm, seq = 3, op_id = 2", 110, 190);
  nsys.Range(5, 7, "aten::relu, seq = 4, op_id = 3", 210, 300);
  nsys.Range(5, 7, "aten::detach, seq = 4, op_id = 4", 220, 240);
  nsys.Range(5, 7, "aten::empty, op_id = 5", 310, 320);
  nsys.Range(5, 7, "aten::sum, seq = 4, op_id = 6", 330, 340);
  nsys.Range(5, 7, "AddmmBackward0, seq = 3, op_id = 7", 400, 450);
  const Trace trace = Read(nsys.Close());
  const Event* linear = FindEvent(trace, "aten::linear");
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(linear->kind, EventKind::kOp);
  EXPECT_EQ(linear->sequence, 3u);
  EXPECT_EQ(trace.text(trace.details.at(linear->detail).inputs), "other[32,64];other[10,64];other[]");
  const auto flags = [&](std::string_view name) { return FindEvent(trace, name)->flags; };
  EXPECT_EQ(flags("aten::linear"), wire::kOpEmitNvtx | wire::kOpGradMode | wire::kOpGraph | wire::kOpOutermost);
  EXPECT_EQ(flags("aten::addmm"), wire::kOpEmitNvtx | wire::kOpGradMode | wire::kOpGraph);
  EXPECT_FALSE(flags("aten::relu") & wire::kOpGraph) << "the next op has the same number";
  EXPECT_EQ(flags("aten::empty"), wire::kOpEmitNvtx | wire::kOpOutermost);
  EXPECT_FALSE(flags("AddmmBackward0") & wire::kOpGraph);
  EXPECT_EQ(FindEvent(trace, "AddmmBackward0")->sub, 1);
}

TEST_F(NsysImporter, WaitsOfThreadsAndTheirNames) {
  NsysBuilder nsys(File());
  AddTraining(nsys);
  const std::string thread = std::to_string(GlobalTid(5, 7));
  const std::string wait = std::to_string(nsys.String("pthread_cond_wait"));
  const std::string open = std::to_string(nsys.String("open"));
  nsys.Run("INSERT INTO OSRT_API VALUES (10, 90, " + thread + ", " + wait + "), (91, 95, " + thread + ", " + open +
           ")");
  nsys.Run("INSERT INTO ThreadNames VALUES (" + std::to_string(nsys.String("trainer")) + ", " + thread + ")");
  const Trace trace = Read(nsys.Close());
  const Event* waited = FindEvent(trace, "pthread_cond_wait");
  ASSERT_NE(waited, nullptr);
  EXPECT_TRUE(waited->is_range(RangeCategory::kWait));
  EXPECT_EQ(FindEvent(trace, "open"), nullptr);
  EXPECT_EQ(trace.threads.at(0).name, "trainer");
  EXPECT_EQ(trace.threads[0].tid, 7u);
  EXPECT_THAT(trace.quality.warnings, Not(Contains(HasSubstr("waits of threads"))));
}

TEST_F(NsysImporter, TheRunAndTheMachine) {
  NsysBuilder nsys(File());
  AddTraining(nsys);
  nsys.Run(
      R"(INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ARGUMENT_0', 'train.py'), ('PROCESS_0:COMMAND', 'python'),
    ('PROCESS_0:ARGUMENT_10', 'last'), ('PROCESS_0:ARGUMENT_2', '--x'), ('PROCESS_0:WORKING_DIR', '/w'),
    ('PROCESS_0:ENVIRONMENT_VARIABLE', 'OMP_NUM_THREADS="2"'),
    ('PROCESS_0:ENVIRONMENT_VARIABLE', 'API_TOKEN="precious"'))");
  nsys.Run("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2026.2.1')");
  nsys.Run("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ('2026-05-24T13:40:14')");
  nsys.Run("INSERT INTO TARGET_INFO_GPU VALUES (3, 'NVIDIA H100')");
  nsys.Run("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, 5)");
  const RunInfo run = Read(nsys.Close()).run;
  EXPECT_THAT(run.command, testing::ElementsAre("python", "train.py", "--x", "last"));
  EXPECT_EQ(run.started, "2026-05-24T13:40:14Z");
  EXPECT_EQ(run.working_directory, "/w");
  EXPECT_EQ(run.versions.at("nsys"), "2026.2.1");
  EXPECT_THAT(run.gpus, testing::ElementsAre("NVIDIA H100"));
  EXPECT_EQ(run.environment.at("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(run.environment.size(), 1u) << "a secret is not taken over";
  EXPECT_EQ(Read(File()).devices.at(0).name, "NVIDIA H100");
}

TEST_F(NsysImporter, TheProcessThatTrainsIsShownAndTheOthersAreNamed) {
  NsysBuilder nsys(File());
  nsys.Range(2, 1, "launcher", 0, 5);
  AddTraining(nsys, 6, 1);
  AddTraining(nsys, 5, 0);
  const fs::path path = nsys.Close();
  const Trace first = Read(path);
  EXPECT_EQ(first.threads.at(0).pid, 5u);
  EXPECT_EQ(first.run.ranks, 2);
  EXPECT_EQ(first.facts.at("trace.processes"), "5,6");
  EXPECT_THAT(first.quality.warnings, Contains(HasSubstr("2 processes of this export trained; pid 5 is shown")));
  const Trace second = Read(path, 6);
  EXPECT_EQ(second.threads.at(0).pid, 6u);
  ASSERT_EQ(second.devices.size(), 1u);
  EXPECT_EQ(second.devices[0].ordinal, 1u);
  EXPECT_FALSE(second.facts.contains("trace.processes"));
}

TEST_F(NsysImporter, AGraphThatBeginsOnTheHostIsPlacedByItsStream) {
  constexpr int kHostGraph = 0x7fffffff;  // CUPTI's device of such a graph
  NsysBuilder nsys(File());
  AddTraining(nsys);
  nsys.Kernel(5, 1, 9, "gemm", 1'000'000'000, 1'000'001'000);
  nsys.Run(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, "
      "correlationId INTEGER, globalPid INTEGER)");
  for (const int stream : {9, 33}) {
    nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1000002000, 1000003000, " +
             std::to_string(kHostGraph) + ", " + std::to_string(stream) + ", 77, " + std::to_string(GlobalTid(5)) +
             ")");
  }
  const Trace trace = Read(nsys.Close());
  ASSERT_EQ(trace.devices.size(), 2u);
  ASSERT_EQ(trace.devices[1].events.size(), 2u);
  EXPECT_EQ(trace.devices[1].events[1].kind, DeviceKind::kGraph);
  EXPECT_THAT(trace.quality.warnings, Contains(HasSubstr("left out 1 launch of CUDA graphs")));
}

TEST_F(NsysImporter, OlderAndSmallerSchemasAreRead) {
  NsysBuilder nsys(File(), R"(
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO StringIds VALUES (1, 'step'), (2, 'gemm');
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, textId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
                                             correlationId INTEGER, shortName INTEGER);)");
  const std::string thread = std::to_string(GlobalTid(5, 7));
  for (int i = 0; i < 4; ++i) {
    const std::string from = std::to_string(i * 100), to = std::to_string(i * 100 + 90);
    nsys.Run("INSERT INTO NVTX_EVENTS VALUES (" + from + ", " + to + ", 59, " + thread + ", 1)");
  }
  nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1, 2)");
  const Trace trace = Read(nsys.Close());
  EXPECT_EQ(trace.marks.size(), 4u);
  EXPECT_THAT(trace.quality.warnings, Contains(HasSubstr("no CUDA calls were recorded")));
  EXPECT_THAT(trace.quality.warnings, Contains(HasSubstr("no waits of threads were recorded")));
}

TEST_F(NsysImporter, WhatTheExportCannotCarryIsSaid) {
  NsysBuilder nsys(File());
  nsys.Call(5, 7, "cudaMalloc", 1, 2, 3);
  nsys.Run(
      "INSERT INTO DIAGNOSTIC_EVENT VALUES (3, 'CUPTI failed'), (1, 'all is well'), "
      "(2, 'Not all NVTX events might have been collected.')");
  const Quality quality = Read(nsys.Close()).quality;
  EXPECT_THAT(quality.warnings, Contains(HasSubstr("no kernels were recorded")));
  EXPECT_THAT(quality.warnings, Contains(HasSubstr("no NVTX ranges were recorded: put each step")));
  EXPECT_THAT(quality.warnings, Contains("Nsight Systems said: CUPTI failed"));
  EXPECT_THAT(quality.warnings, Contains(HasSubstr("Not all NVTX events")));
  EXPECT_THAT(quality.warnings, Not(Contains(HasSubstr("all is well"))));
  EXPECT_TRUE(quality.clean_end);
}

TEST_F(NsysImporter, ImpossibleTimesAreSaidAndNeverCounted) {
  NsysBuilder nsys(File());
  AddTraining(nsys);
  nsys.Kernel(5, 0, 7, "backwards", 500, 400);
  nsys.Kernel(5, 0, 7, "far", 10, INT64_MAX);
  nsys.Kernel(5, 0, 7, "negative", -10, 10);
  nsys.Run("INSERT INTO NVTX_EVENTS VALUES (5, NULL, 59, 'open', " + std::to_string(GlobalTid(5, 7)) + ", NULL, 0)");
  nsys.Run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('x', 'y', 'z', 0, 0, " + std::to_string(GlobalTid(5)) +
           ", 1, 1)");
  const Trace trace = Read(nsys.Close());
  for (const DeviceEvent& event : trace.devices.at(0).events) EXPECT_LE(event.start_ns, event.end_ns);
  EXPECT_EQ(FindEvent(trace, "open"), nullptr);
  EXPECT_THAT(trace.quality.warnings, Contains("3 events had impossible times"));
  EXPECT_THAT(trace.quality.warnings, Contains(HasSubstr("1 NVTX ranges were not closed")));
}

TEST_F(NsysImporter, ATornFileIsReadUpToTheTear) {
  NsysBuilder nsys(File());
  AddTraining(nsys);
  nsys.Run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO "
      "CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 100, i * 100 + 50, 0, 7, 0, " +
      std::to_string(GlobalTid(5)) + ", 1, 1 FROM n");
  const fs::path path = nsys.Close();
  const std::uintmax_t size = fs::file_size(path);
  const std::size_t whole = Read(path).devices.at(0).events.size();
  fs::resize_file(path, size / 2);
  const Trace torn = Read(path);
  EXPECT_EQ(torn.quality.torn_bytes, size - size / 2);
  EXPECT_FALSE(torn.quality.clean_end);
  EXPECT_THAT(torn.quality.warnings, Contains(HasSubstr("cut off")));
  std::size_t read = 0;
  for (const Device& device : torn.devices) read += device.events.size();
  EXPECT_LT(read, whole);
  EXPECT_GT(torn.marks.size(), 0u);
}

TEST_F(NsysImporter, HostileSchemasDoNoHarm) {
  NsysBuilder nsys(File());
  AddTraining(nsys);
  nsys.Run("DROP TABLE OSRT_API; DROP TABLE ThreadNames; DROP TABLE META_DATA_EXPORT");
  nsys.Run(
      "CREATE VIEW OSRT_API AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, "
      "i AS end, 1 AS globalTid, 1 AS nameId FROM n");
  nsys.Run(
      "CREATE TABLE ThreadNames (nameId INTEGER, globalTid INTEGER GENERATED ALWAYS AS (printf('%100000000d', "
      "nameId)))");
  nsys.Run("INSERT INTO ThreadNames (nameId) VALUES (1)");
  nsys.Run("CREATE TABLE META_DATA_EXPORT (name, value)");
  nsys.Run("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', zeroblob(50000000))");
  const Trace trace = Read(nsys.Close());
  EXPECT_EQ(trace.marks.size(), 10u);
  EXPECT_EQ(trace.run.versions.at("nsys"), "");
  EXPECT_THAT(trace.quality.warnings, Contains(HasSubstr("ThreadNames has no column \"globalTid\"")));
}

TEST_F(NsysImporter, WhatIsNoExportIsRefused) {
  const auto refusal = [&](const fs::path& path) {
    const Result<Trace> trace = ReadAnyTrace(path);
    return trace ? std::string() : trace.error().Message();
  };
  NsysBuilder other(File("other.sqlite"), "CREATE TABLE songs (name TEXT)");
  EXPECT_THAT(refusal(other.Close()), HasSubstr("no export of Nsight Systems"));
  NsysBuilder empty(File("empty.sqlite"));
  EXPECT_THAT(refusal(empty.Close()), HasSubstr("holds no event of a program"));
  std::ofstream(File("noise.sqlite"), std::ios::binary)
      << std::string("SQLite format 3\0", 16) << std::string(5000, 'x');
  EXPECT_THAT(refusal(File("noise.sqlite")), HasSubstr("damaged SQLite database"));
  for (const char* name : {"a.nsys-rep", "b.qdrep"}) {
    std::ofstream(File(name)) << "report";
    EXPECT_THAT(refusal(File(name)), HasSubstr("nsys export --type sqlite " + std::string(name)));
  }
}

TEST_F(NsysImporter, OddPathsAreRead) {
  NsysBuilder nsys(File("a b%20?x=1#y.sqlite"));
  AddTraining(nsys);
  EXPECT_EQ(Read(nsys.Close()).marks.size(), 10u);
}

// Exports that others made; the folder is named by the environment or lies beside the repository.
class NsysRealExports : public testing::Test {
 protected:
  void SetUp() override {
    const char* named = std::getenv("LOOPSCOPE_TRACES");
    folder_ = named ? named : fs::path(__FILE__).parent_path() / "../../../shared/traces";
    if (!fs::exists(folder_ / "nsys_tiny.sqlite")) GTEST_SKIP() << "no traces in " << folder_;
  }
  fs::path folder_;
};

TEST_F(NsysRealExports, TwoGpus) {
  const fs::path path = folder_ / "nsys_h100_2gpu.sqlite";
  std::size_t kernels = 0, copies = 0, calls = 0, ops = 0;
  for (const std::uint32_t pid : {111u, 112u}) {
    const Result<Trace> trace = ReadAnyTrace(path, pid);
    ASSERT_TRUE(trace) << trace.error().Message();
    ASSERT_EQ(trace->devices.size(), 1u);
    EXPECT_EQ(trace->devices[0].ordinal, pid - 111);
    for (const DeviceEvent& event : trace->devices[0].events) {
      kernels += event.kind == DeviceKind::kKernel;
      copies += event.kind == DeviceKind::kCopy;
    }
    for (const Event& event : trace->threads.at(0).events) {
      ops += event.kind == EventKind::kOp && (event.flags & wire::kOpEmitNvtx);
      calls += event.is_range(RangeCategory::kDeviceCall) || event.is_range(RangeCategory::kSync);
    }
    EXPECT_EQ(trace->run.versions.at("nsys"), "2026.2.1.210");
    EXPECT_EQ(trace->run.command.at(0), "bash");
  }
  EXPECT_EQ(kernels, 3442u);
  EXPECT_EQ(copies, 904u);
  EXPECT_EQ(calls, 5796u);
  EXPECT_EQ(ops, 16782u);
}

TEST_F(NsysRealExports, Tiny) {
  const Result<Trace> trace = ReadAnyTrace(folder_ / "nsys_tiny.sqlite");
  ASSERT_TRUE(trace) << trace.error().Message();
  ASSERT_EQ(trace->devices.size(), 1u);
  EXPECT_EQ(trace->devices[0].name, "NVIDIA GeForce RTX 3080");
  EXPECT_EQ(Collected(*trace, DeviceKind::kKernel).size(), 2u);
  EXPECT_THAT(trace->quality.warnings, Contains(HasSubstr("no NVTX ranges were recorded")));
}

}  // namespace
}  // namespace loopscope
