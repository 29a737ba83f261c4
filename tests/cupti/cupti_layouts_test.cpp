// Records as other versions of CUPTI write them, what a walk hands out, and the dump of buffers.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "probes/cupti/activity_layout.h"
#include "probes/cupti/decoder.h"
#include "probes/cupti/dump.h"
#include "probes/find_function.h"
#include "tests/cupti/buffer.h"
#include "tests/cupti/fake_probe_api.h"

namespace loopscope {
namespace {

using test::Buffer, test::Recorded, test::RecordBytes;
using testing::ElementsAre, testing::SizeIs;
using wire::CopyWay;

constexpr char kName[] = "_Z4gemmPf", kDeviceName[] = "NVIDIA H100";

activity::Kernel Kernel(std::uint64_t start) {
  activity::Kernel kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = start, kernel.end = start + 5;
  kernel.device = 1, kernel.stream = 7, kernel.correlation = 42;
  kernel.name = kName;
  return kernel;
}

activity::Memcpy Copy() {
  activity::Memcpy copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.from = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  copy.start = 100, copy.end = 300, copy.bytes = 4096;
  return copy;
}

activity::Synchronization Wait() {
  activity::Synchronization wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.start = 40, wait.end = 95, wait.stream = 3;
  return wait;
}

activity::Device Device() {
  activity::Device device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.name = kDeviceName;
  return device;
}

activity::Api Call(std::uint32_t callback) {
  activity::Api call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  call.callback = callback;
  call.start = 50, call.end = 56, call.thread = 1234;
  return call;
}

CUptiResult NameOf(CUpti_CallbackDomain, std::uint32_t id, const char** name) {
  if (id > 2) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = id == 1 ? "cudaLaunchKernel_v7000" : "cudaGetDevice_v3020";
  return CUPTI_SUCCESS;
}

template <const RecordBytes& kBytes>
Cupti Walking() {
  Cupti cupti;
  cupti.next_record = test::NextRecord<kBytes>;
  cupti.callback_name = NameOf;
  return cupti;
}

Buffer AllRecords(const RecordBytes& bytes) {
  Buffer buffer;
  buffer.AddAs(bytes.device, Device()).AddAs(bytes.kernel, Kernel(10)).AddAs(bytes.copy, Copy());
  buffer.AddAs(bytes.wait, Wait()).Add(Call(1)).AddAs(bytes.kernel, Kernel(20));
  return buffer;
}

template <const RecordBytes& kBytes>
void ReadsAllRecords() {
  Recorded::Instance().Clear();
  Buffer buffer = AllRecords(kBytes);
  const Cupti cupti = Walking<kBytes>();
  Decoder decoder(cupti, *test::FakeProbeApi(), Calls::kAll);
  decoder.Decode(buffer.bytes().data(), buffer.bytes().size());
  ASSERT_THAT(Recorded::Instance().work, SizeIs(4));
  EXPECT_EQ(Recorded::Instance().work[1].way, CopyWay::kHostToDevice);
  EXPECT_EQ(Recorded::Instance().work[1].flags, wire::kWorkPageable);
  EXPECT_EQ(Recorded::Instance().work[2].stream, 3u);
  EXPECT_EQ(Recorded::Instance().work[3].start_ns, 20u);
  EXPECT_EQ(Recorded::Instance().Name(Recorded::Instance().work[3].name), kName);
  ASSERT_THAT(Recorded::Instance().calls, SizeIs(1));
  EXPECT_EQ(Recorded::Instance().calls[0].tid, 1234u);
  EXPECT_EQ(Recorded::Instance().facts["device.0.name"], kDeviceName);
  EXPECT_EQ(decoder.counts().torn, 0u) << "the last record is whole, however long a newer one would be";
}

TEST(CuptiLayouts, Cuda12) {
  ReadsAllRecords<test::kCupti124>();
}

TEST(CuptiLayouts, Cuda13) {
  ReadsAllRecords<test::kCupti130>();
  ReadsAllRecords<test::kCupti135>();
}

// LOOPSCOPE_LIBCUPTI names another one than that of the torch which this was built with. Prints the layout that it has.
TEST(CuptiLayouts, AsTheLibraryOfATorchWalksThem) {
  const char* const named = std::getenv("LOOPSCOPE_LIBCUPTI");
  void* const library = dlopen(named != nullptr ? named : "libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr && named == nullptr) GTEST_SKIP() << "this torch has none";
  ASSERT_NE(library, nullptr) << dlerror();
  Cupti cupti;
  ASSERT_TRUE(Find(library, "cuptiActivityGetNextRecord", cupti.next_record));
  cupti.callback_name = NameOf;
  std::vector<std::string> fit;
  const std::initializer_list<std::pair<const char*, RecordBytes>> layouts{
      {"12.4", test::kCupti124}, {"12.8", test::kCupti128}, {"13.0", test::kCupti130}, {"13.5", test::kCupti135}};
  for (const auto& [name, bytes] : layouts) {
    Buffer buffer = AllRecords(bytes);
    CUpti_Activity* record = nullptr;
    std::vector<std::size_t> at;
    while (cupti.next_record(buffer.bytes().data(), buffer.bytes().size(), &record) == CUPTI_SUCCESS) {
      at.push_back(static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(record) - buffer.bytes().data()));
    }
    const std::size_t copy = bytes.device + bytes.kernel, wait = copy + bytes.copy, call = wait + bytes.wait;
    if (at != std::vector<std::size_t>{0, bytes.device, copy, wait, call, call + sizeof(CUpti_ActivityAPI)}) continue;
    fit.push_back(name);
    Recorded::Instance().Clear();
    Decoder decoder(cupti, *test::FakeProbeApi(), Calls::kAll);
    decoder.Decode(buffer.bytes().data(), buffer.bytes().size());
    ASSERT_THAT(Recorded::Instance().work, SizeIs(4));
    EXPECT_EQ(Recorded::Instance().work[3].start_ns, 20u);
    EXPECT_EQ(Recorded::Instance().facts["device.0.name"], kDeviceName);
  }
  ASSERT_THAT(fit, SizeIs(1));
  RecordProperty("layout", fit.front());
  std::printf("records as those of CUDA %s\n", fit.front().c_str());
}

constexpr RecordBytes kTooOld{sizeof(activity::Kernel) - 8, 88, 88, 40, 24, 184};

TEST(CuptiLayouts, ARecordThatIsShorterThanWhatIsReadIsTorn) {
  Recorded::Instance().Clear();
  Buffer buffer;
  buffer.AddAs(kTooOld.kernel, Kernel(10));
  const Cupti cupti = Walking<kTooOld>();
  Decoder decoder(cupti, *test::FakeProbeApi(), Calls::kAll);
  decoder.Decode(buffer.bytes().data(), buffer.bytes().size());
  EXPECT_THAT(Recorded::Instance().work, SizeIs(0));
  EXPECT_EQ(decoder.counts().torn, 1u);
}

std::vector<std::string> CallsWritten(Calls calls) {
  Recorded::Instance().Clear();
  Buffer buffer;
  buffer.Add(Call(1)).Add(Call(2)).Add(Call(2)).Add(Call(3)).Add(Call(1));
  const Cupti cupti = Walking<test::kCupti130>();
  Decoder decoder(cupti, *test::FakeProbeApi(), calls);
  decoder.Decode(buffer.bytes().data(), buffer.bytes().size());
  std::vector<std::string> names;
  for (const wire::DeviceCallRecord& call : Recorded::Instance().calls) {
    names.push_back(Recorded::Instance().Name(call.name));
  }
  return names;
}

TEST(CuptiLayouts, OfWholeInterfacesOnlyTheCallsThatTellSomething) {
  EXPECT_THAT(CallsWritten(Calls::kRecorded), ElementsAre("cudaLaunchKernel_v7000", "cudaLaunchKernel_v7000"));
  EXPECT_THAT(CallsWritten(Calls::kAll),
              ElementsAre("cudaLaunchKernel_v7000", "cudaGetDevice_v3020", "cudaGetDevice_v3020", "an unknown call",
                          "cudaLaunchKernel_v7000"));
}

TEST(CuptiLayouts, AGraphThatBeginsOnTheHostBelongsToTheDeviceWhereItEnds) {
  Recorded::Instance().Clear();
  activity::GraphTrace graph{};
  graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  graph.start = 30, graph.end = 90, graph.device = activity::kHost, graph.end_device = 2;
  Buffer buffer;
  buffer.Add(graph);
  const Cupti cupti = Walking<test::kCupti130>();
  Decoder decoder(cupti, *test::FakeProbeApi(), Calls::kAll);
  decoder.Decode(buffer.bytes().data(), buffer.bytes().size());
  ASSERT_THAT(Recorded::Instance().work, SizeIs(1));
  EXPECT_EQ(Recorded::Instance().work[0].device, 2u);
}

class Dump : public testing::Test {
 protected:
  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void TearDown() override { std::remove(path_.c_str()); }

  std::string path_ = testing::TempDir() + "loopscope-cupti-dump";
  Cupti cupti_ = Walking<test::kCupti130>();
};

std::string Number(std::uint64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string Text(const char* text) {
  return Number(reinterpret_cast<std::uintptr_t>(text)) + Number(std::strlen(text)) + text;
}

TEST_F(Dump, BuffersAsTheyAreAndTheTextsThatTheyPointTo) {
  Buffer first, second;
  first.AddAs(test::kCupti130.device, Device()).AddAs(test::kCupti130.kernel, Kernel(10)).Add(Call(1));
  second.AddAs(test::kCupti130.kernel, Kernel(20));
  BufferDump dump(cupti_, path_.c_str());
  std::string expected;
  for (Buffer* buffer : {&first, &second}) {
    dump.Add(buffer->bytes().data(), buffer->bytes().size());
    expected += Number(buffer->bytes().size()) + std::string(buffer->bytes().begin(), buffer->bytes().end());
  }
  EXPECT_EQ(Bytes(), expected) << "written at once: the program may be killed";
  dump.Finish();
  const bool name_first = &kName[0] < &kDeviceName[0];
  expected += Number(0) + Text(name_first ? kName : kDeviceName) + Text(name_first ? kDeviceName : kName);
  EXPECT_EQ(Bytes(), expected);
}

TEST_F(Dump, StopsInTime) {
  Buffer large;
  while (large.bytes().size() < (3 << 20)) large.Add(Call(1));
  BufferDump dump(cupti_, path_.c_str());
  for (int i = 0; i < 5; ++i) dump.Add(large.bytes().data(), large.bytes().size());
  EXPECT_EQ(Bytes().size(), 2 * (large.bytes().size() + 8));
}

TEST_F(Dump, IsNotMadeUnlessAskedFor) {
  Buffer buffer;
  buffer.Add(Call(1));
  BufferDump dump(cupti_, nullptr);
  dump.Add(buffer.bytes().data(), buffer.bytes().size());
  dump.Finish();
  EXPECT_FALSE(std::ifstream(path_).good());
}

}  // namespace
}  // namespace loopscope
