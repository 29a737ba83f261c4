#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "probes/cupti/decoder.h"
#include "tests/cupti/buffer.h"
#include "tests/cupti/fake_probe_api.h"

namespace loopscope {
namespace {

using test::Buffer, test::Recorded;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using wire::CopyWay, wire::DeviceWork;

// The newest of the installed header, which the library beside it writes.
#if CUPTI_API_VERSION >= 130'000
using NewestKernel = CUpti_ActivityKernel10;
using NewestCopy = CUpti_ActivityMemcpy6;
using NewestWait = CUpti_ActivitySynchronization2;
using NewestContext = CUpti_ActivityContext3;
#elif CUPTI_API_VERSION >= 26
using NewestKernel = CUpti_ActivityKernel9;
using NewestCopy = CUpti_ActivityMemcpy6;
using NewestWait = CUpti_ActivitySynchronization2;
using NewestContext = CUpti_ActivityContext3;
#else
using NewestKernel = CUpti_ActivityKernel9;
using NewestCopy = CUpti_ActivityMemcpy5;
using NewestWait = CUpti_ActivitySynchronization;
#if CUPTI_API_VERSION >= 24
using NewestContext = CUpti_ActivityContext3;
#else
using NewestContext = CUpti_ActivityContext2;
#endif
#endif

NewestKernel Kernel(std::uint64_t start, std::uint64_t end, const char* name = "_Z4gemmPf") {
  NewestKernel kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = start;
  kernel.end = end;
  kernel.deviceId = 1;
  kernel.streamId = 7;
  kernel.correlationId = 42;
  kernel.name = name;
  return kernel;
}

NewestCopy Copy(std::uint8_t kind, std::uint8_t from, std::uint8_t to, std::uint8_t flags = 0) {
  NewestCopy copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = kind;
  copy.srcKind = from;
  copy.dstKind = to;
  copy.flags = flags;
  copy.bytes = 4096;
  copy.start = 100;
  copy.end = 300;
  copy.streamId = 9;
  copy.correlationId = 5;
  return copy;
}

class CuptiDecoder : public testing::Test {
 protected:
  void SetUp() override {
    // Newer ones do nothing without a driver.
    real_ = LoadCupti(cupti_) == nullptr;
    if (!real_) cupti_.next_record = test::NextRecord<test::kCupti130>;
    if (!real_) cupti_.callback_name = [](auto...) { return CUPTI_ERROR_UNKNOWN; };
    Recorded::Instance().Clear();
    decoder_ = std::make_unique<Decoder>(cupti_, *test::FakeProbeApi(), Calls::kAll);
  }
  void Decode(Buffer buffer) { decoder_->Decode(buffer.bytes().data(), buffer.bytes().size()); }
  // 0 where CUPTI knows no such call.
  CUpti_CallbackId IdOf(CUpti_CallbackDomain domain, const char* call) const {
    for (CUpti_CallbackId id = 1; id < 2048; ++id) {
      const char* name = nullptr;
      if (cupti_.callback_name(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) continue;
      if (std::strcmp(name, call) == 0) return id;
    }
    return 0;
  }
  const Recorded& recorded() const { return Recorded::Instance(); }
  const DecoderCounts& counts() const { return decoder_->counts(); }

  Cupti cupti_;
  bool real_ = false;
  std::unique_ptr<Decoder> decoder_;
};

TEST_F(CuptiDecoder, AKernel) {
  Decode(Buffer().Add(Kernel(1000, 1500)));
  ASSERT_THAT(recorded().work, SizeIs(1));
  const wire::DeviceRecord& work = recorded().work[0];
  EXPECT_EQ(work.head.sub, static_cast<std::uint8_t>(DeviceWork::kKernel));
  EXPECT_EQ(work.head.words * 8u, sizeof work);
  EXPECT_EQ(recorded().Name(work.name), "_Z4gemmPf");
  EXPECT_EQ(work.start_ns, 1000u);
  EXPECT_EQ(work.duration_ns, 500u);
  EXPECT_EQ(work.device, 1u);
  EXPECT_EQ(work.stream, 7u);
  EXPECT_EQ(work.correlation, 42u);
  EXPECT_EQ(counts().records, 1u);
}

TEST_F(CuptiDecoder, CopiesKnowTheirWayAndTheHostsMemory) {
  constexpr std::uint8_t kPageable = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE, kPinned = CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
                         kDevice = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  Decode(Buffer()
             .Add(Copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, kPageable, kDevice))
             .Add(Copy(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, kDevice, kPinned, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC))
             .Add(Copy(CUPTI_ACTIVITY_MEMCPY_KIND_ATOD, kDevice, kDevice))
             .Add(Copy(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, kDevice, kDevice))
             .Add(Copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, kPageable, kPageable)));
  std::vector<std::pair<CopyWay, int>> seen;
  for (const wire::DeviceRecord& work : recorded().work) {
    EXPECT_EQ(work.bytes, 4096u);
    EXPECT_EQ(work.head.sub, static_cast<std::uint8_t>(DeviceWork::kCopy));
    seen.emplace_back(work.way, work.flags);
  }
  EXPECT_THAT(seen,
              ElementsAre(Pair(CopyWay::kHostToDevice, wire::kWorkPageable),
                          Pair(CopyWay::kDeviceToHost, wire::kWorkPinned | wire::kWorkAsync),
                          Pair(CopyWay::kDeviceToDevice, 0), Pair(CopyWay::kPeer, 0), Pair(CopyWay::kHostToHost, 0)));
}

TEST_F(CuptiDecoder, MemsetsGraphsAndWaitsOnTheContextsDevice) {
  CUpti_ActivityMemset4 memset{};
  memset.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  memset.start = 10, memset.end = 20, memset.bytes = 64, memset.deviceId = 2;
  CUpti_ActivityGraphTrace2 graph{};
  graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  graph.start = 30, graph.end = 90, graph.deviceId = 2, graph.correlationId = 8;
  NewestContext context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 1, context.deviceId = 2;
  NewestWait wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.start = 40, wait.end = 95, wait.contextId = 1, wait.correlationId = 9;
  wait.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  Decode(Buffer().Add(memset).Add(graph).Add(context).Add(wait));
  ASSERT_THAT(recorded().work, SizeIs(3));
  EXPECT_EQ(recorded().work[0].bytes, 64u);
  EXPECT_EQ(recorded().work[1].duration_ns, 60u);
  EXPECT_EQ(recorded().work[1].correlation, 8u);
  EXPECT_EQ(recorded().work[2].head.sub, static_cast<std::uint8_t>(DeviceWork::kWait));
  EXPECT_EQ(recorded().work[2].device, 2u);
  EXPECT_EQ(recorded().work[2].stream, 0u);
}

TEST_F(CuptiDecoder, CallsBelongToTheThreadThatMadeThem) {
  if (!real_) GTEST_SKIP() << "this CUPTI names no calls without a driver";
  const CUpti_CallbackId launch = IdOf(CUPTI_CB_DOMAIN_RUNTIME_API, "cudaLaunchKernel_v7000");
  ASSERT_NE(launch, 0u) << "CUPTI names its calls without a driver";
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  call.cbid = launch;
  call.start = 50, call.end = 56, call.threadId = 1234, call.correlationId = 42;
  Decode(Buffer().Add(call).Add(call));
  ASSERT_THAT(recorded().calls, SizeIs(2));
  EXPECT_EQ(recorded().Name(recorded().calls[1].name), "cudaLaunchKernel_v7000");
  EXPECT_EQ(recorded().calls[1].tid, 1234u);
  EXPECT_EQ(recorded().calls[1].duration_ns, 6u);
  EXPECT_EQ(recorded().calls[1].correlation, 42u);
  EXPECT_THAT(recorded().names, SizeIs(2)) << "a name is asked for once";
}

TEST_F(CuptiDecoder, DevicesAreFacts) {
  CUpti_ActivityDevice5 device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.id = 0;
  device.name = "NVIDIA H200";
  device.globalMemorySize = 150'000'000'000;
  device.computeCapabilityMajor = 9;
  device.numMultiprocessors = 132;
  Decode(Buffer().Add(device));
  EXPECT_THAT(recorded().facts, testing::UnorderedElementsAre(Pair("device.0.name", "NVIDIA H200"),
                                                              Pair("device.0.memory_bytes", "150000000000")));
}

TEST_F(CuptiDecoder, ASliceOfADeviceIsAFact) {
  CUpti_ActivityDevice5 device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.name = "NVIDIA H200 MIG 1g.18gb";
  device.isMigEnabled = 1;
  device.gpuInstanceId = 7;
  device.computeInstanceId = 0;
  Decode(Buffer().Add(device));
  EXPECT_THAT(recorded().facts, testing::Contains(Pair("device.0.mig", "7/0")));
}

TEST_F(CuptiDecoder, CallsOfTheDriverHaveNamesOfTheirOwn) {
  if (!real_) GTEST_SKIP() << "this CUPTI names no calls without a driver";
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  call.cbid = IdOf(CUPTI_CB_DOMAIN_DRIVER_API, "cuLaunchKernel");
  call.start = 50, call.end = 56, call.threadId = 1234, call.correlationId = 42;
  CUpti_ActivityAPI unknown = call;
  unknown.cbid = 100'000;
  Decode(Buffer().Add(call).Add(unknown));
  ASSERT_THAT(recorded().calls, SizeIs(2));
  EXPECT_EQ(recorded().Name(recorded().calls[0].name), "cuLaunchKernel");
  EXPECT_EQ(recorded().Name(recorded().calls[1].name), "an unknown call");
}

TEST_F(CuptiDecoder, ImpossibleTimesAreCountedAndLeftOut) {
  Decode(Buffer().Add(Kernel(0, 500)).Add(Kernel(900, 0)).Add(Kernel(900, 800)).Add(Kernel(900, 900)));
  EXPECT_THAT(recorded().work, SizeIs(1));
  EXPECT_EQ(counts().no_time, 2u);
  EXPECT_EQ(counts().backwards, 1u);
}

TEST_F(CuptiDecoder, OverheadIsSummedAndOtherKindsAreCounted) {
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.start = 100, overhead.end = 350;
  CUpti_ActivityMarker2 marker{};
  marker.kind = CUPTI_ACTIVITY_KIND_MARKER;
  Decode(Buffer().Add(overhead).Add(marker).Add(Kernel(1, 2)));
  EXPECT_EQ(counts().overhead_ns, 250u);
  EXPECT_EQ(counts().others, 1u);
  EXPECT_THAT(recorded().work, SizeIs(1));
}

TEST_F(CuptiDecoder, EveryEndOfABufferIsSafe) {
  Buffer whole;
  whole.Add(Kernel(10, 20)).Add(Copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1, 3)).Add(Kernel(30, 40));
  for (std::size_t valid = 0; valid <= whole.bytes().size(); ++valid) {
    // Exactly as long: reading on would be seen.
    std::vector<std::uint8_t> cut(whole.bytes().begin(), whole.bytes().begin() + static_cast<std::ptrdiff_t>(valid));
    Recorded::Instance().Clear();
    decoder_->Decode(cut.data(), cut.size());
    const std::size_t first = sizeof(NewestKernel), second = first + sizeof(NewestCopy);
    const std::size_t whole_records = valid >= whole.bytes().size() ? 3 : valid >= second ? 2 : valid >= first ? 1 : 0;
    EXPECT_THAT(recorded().work, SizeIs(whole_records)) << valid;
  }
}

TEST_F(CuptiDecoder, MoreThanABatchAndAFullCapture) {
  Buffer many;
  for (std::uint64_t i = 1; i <= 1000; ++i) many.Add(Kernel(i * 10, i * 10 + 5));
  Decode(many);
  EXPECT_THAT(recorded().work, SizeIs(1000));
  EXPECT_EQ(recorded().work[999].start_ns, 10'000u);
  Recorded::Instance().full = true;
  Decode(many);
  EXPECT_EQ(counts().records, 1000u);
  EXPECT_EQ(counts().not_written, 1000u);
}

TEST_F(CuptiDecoder, AnEmptyBuffer) {
  std::vector<std::uint8_t> zeros(4096);
  decoder_->Decode(zeros.data(), 0);
  EXPECT_THAT(recorded().work, IsEmpty());
  EXPECT_EQ(counts().torn, 0u);
}

}  // namespace
}  // namespace loopscope
