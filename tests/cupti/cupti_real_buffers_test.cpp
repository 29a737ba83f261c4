// What a real device sent: buffers of CUDA 13.0's CUPTI as they were handed over on an H100 (tests/data/gpu), with
// whole interfaces recorded. What the decoder and the importer take for granted about ids and nesting is held to it
// here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "probes/cupti/activity_layout.h"
#include "probes/cupti/decoder.h"
#include "tests/cupti/buffer.h"
#include "tests/cupti/fake_probe_api.h"

namespace loopscope {
namespace {

using test::Recorded;
using testing::Le, testing::SizeIs;
using wire::DeviceCallRecord, wire::DeviceRecord, wire::DeviceWork;

// probes/cupti/dump.h has the format.
class Reader {
 public:
  explicit Reader(const char* path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  bool AtEnd() const { return at_ + sizeof(std::uint64_t) > bytes_.size(); }
  std::uint64_t Number() {
    std::uint64_t number = 0;
    if (AtEnd()) return 0;
    std::memcpy(&number, bytes_.data() + at_, sizeof number);
    at_ += sizeof number;
    return number;
  }
  std::string Bytes(std::uint64_t count) {
    const std::string part = bytes_.substr(at_, count);
    at_ += part.size();
    return part;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

// In place of the address that was good in the recorded program: that of the text itself.
void PointTo(const std::map<std::uint64_t, std::string>& texts, std::uint8_t* field) {
  std::uint64_t address;
  std::memcpy(&address, field, sizeof address);
  const auto text = texts.find(address);
  ASSERT_NE(text, texts.end());
  const char* const characters = text->second.c_str();
  std::memcpy(field, &characters, sizeof characters);
}

class CuptiRealBuffers : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Recorded::Instance().Clear();
    Reader dump(CUPTI_DUMP);
    std::vector<std::string> buffers;
    while (const std::uint64_t length = dump.Number()) buffers.push_back(dump.Bytes(length));
    ASSERT_THAT(buffers, SizeIs(5));
    // They are pointed to for as long as names are read, which is until the last test.
    static std::map<std::uint64_t, std::string> texts;
    while (!dump.AtEnd()) {
      const std::uint64_t address = dump.Number();
      texts[address] = dump.Bytes(dump.Number());
    }
    Cupti cupti;
    ASSERT_EQ(LoadCupti(cupti), nullptr);  // names calls without a driver
    cupti.next_record = test::NextRecord<test::kCupti130>;
    Decoder decoder(cupti, *test::FakeProbeApi(), Calls::kAll);
    for (std::string& buffer : buffers) {
      auto* const bytes = reinterpret_cast<std::uint8_t*>(buffer.data());
      CUpti_Activity* record = nullptr;
      while (cupti.next_record(bytes, buffer.size(), &record) == CUPTI_SUCCESS) {
        auto* const at = reinterpret_cast<std::uint8_t*>(record);
        const CUpti_ActivityKind kind = activity::As<CUpti_Activity>(*record).kind;
        if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) PointTo(texts, at + offsetof(activity::Kernel, name));
        if (kind == CUPTI_ACTIVITY_KIND_DEVICE) PointTo(texts, at + offsetof(activity::Device, name));
      }
      decoder.Decode(bytes, buffer.size());
    }
    counts_ = decoder.counts();
  }

  static std::vector<DeviceRecord> Launched() {
    std::vector<DeviceRecord> launched;
    std::ranges::copy_if(Recorded::Instance().work, std::back_inserter(launched), [](const DeviceRecord& work) {
      return work.head.sub != static_cast<std::uint8_t>(DeviceWork::kWait);
    });
    return launched;
  }
  static const std::vector<DeviceCallRecord>& AllCalls() { return Recorded::Instance().calls; }
  static std::string NameOf(std::uint32_t id) { return Recorded::Instance().Name(id); }

  static DecoderCounts counts_;
};
DecoderCounts CuptiRealBuffers::counts_;

TEST_F(CuptiRealBuffers, EveryRecordIsRead) {
  EXPECT_EQ(counts_.torn, 0u);
  EXPECT_EQ(counts_.no_time, 0u);
  EXPECT_EQ(counts_.backwards, 0u);
  EXPECT_EQ(counts_.others, 0u);
  EXPECT_GT(counts_.overhead_ns, 0u);
  EXPECT_THAT(Launched(), SizeIs(156));
  EXPECT_EQ(Recorded::Instance().facts["device.0.name"], "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(Recorded::Instance().facts.count("device.0.memory_bytes"), 1u);
}

TEST_F(CuptiRealBuffers, EveryCallAndKernelHasAName) {
  for (const DeviceCallRecord& call : AllCalls()) EXPECT_NE(NameOf(call.name), "an unknown call");
  for (const DeviceRecord& work : Launched()) {
    const bool kernel = work.head.sub == static_cast<std::uint8_t>(DeviceWork::kKernel);
    EXPECT_EQ(NameOf(work.name).empty(), !kernel);
  }
}

TEST_F(CuptiRealBuffers, AllWorkBelongsToOneCallThatIsRecorded) {
  std::map<std::uint32_t, std::vector<std::string>> names;
  for (const DeviceCallRecord& call : AllCalls()) names[call.correlation].push_back(NameOf(call.name));
  for (const DeviceRecord& work : Launched()) {
    ASSERT_THAT(names[work.correlation], SizeIs(1)) << work.correlation;
    EXPECT_TRUE(IsRecordedCall(names[work.correlation][0])) << names[work.correlation][0];
  }
}

// The importer counts each launch that has no work of its own as lost.
TEST_F(CuptiRealBuffers, OfACallInsideAnotherOneOfTheTwoLaunches) {
  std::set<std::uint32_t> launching;
  for (const DeviceRecord& work : Launched()) launching.insert(work.correlation);
  std::vector<DeviceCallRecord> calls = AllCalls();
  std::erase_if(calls, [&](const DeviceCallRecord& call) { return !launching.contains(call.correlation); });
  std::ranges::sort(calls, {}, [](const DeviceCallRecord& call) { return std::pair(call.tid, call.start_ns); });
  for (std::size_t i = 1; i < calls.size(); ++i) {
    if (calls[i - 1].tid != calls[i].tid) continue;
    EXPECT_THAT(calls[i - 1].start_ns + calls[i - 1].duration_ns, Le(calls[i].start_ns))
        << NameOf(calls[i].name) << " in " << NameOf(calls[i - 1].name);
  }
}

}  // namespace
}  // namespace loopscope
