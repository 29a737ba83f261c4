// What NVML is asked for, with a stand-in for it.
#include "probes/cupti/utilization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "tests/cupti/fake_probe_api.h"

namespace loopscope {
namespace {

using test::FakeProbeApi, test::Recorded;
using testing::ElementsAre, testing::IsEmpty;

DeviceUuid Uuid(std::uint8_t last) {
  DeviceUuid uuid;
  for (std::uint8_t i = 0; i < 15; ++i) uuid.bytes[i] = i;
  uuid.bytes[15] = last;
  return uuid;
}

class Utilization : public testing::Test {
 protected:
  void SetUp() override { Recorded::Instance().Clear(); }
  UtilizationSampler sampler_{*FakeProbeApi()};
};

TEST_F(Utilization, ADeviceIsFoundByItsUuid) {
  EXPECT_STREQ(TextOf(Uuid(0xff)).data(), "GPU-00010203-0405-0607-0809-0a0b0c0d0eff");
}

TEST_F(Utilization, WritesWhatTheLibraryTells) {
  sampler_.Know(1, Uuid(0xff));
  sampler_.Sample();
  const Recorded& recorded = Recorded::Instance();
  EXPECT_THAT(recorded.marks, ElementsAre("cuda:1 utilization_pct", "cuda:1 memory_used_bytes", "cuda:1 sm_clock_mhz",
                                          "cuda:1 slowed"));
  std::vector<double> values;
  for (const std::uint64_t bits : recorded.mark_values) values.push_back(std::bit_cast<double>(bits));
  EXPECT_THAT(values, ElementsAre(37, 5e9, 1200, 1));
}

TEST_F(Utilization, SaysNothingOfADeviceThatItDoesNotKnow) {
  sampler_.Sample();
  sampler_.Know(0, Uuid(0x01));          // NVML has no such device
  sampler_.Know(1'000'000, Uuid(0xff));  // no such number
  sampler_.Sample();
  EXPECT_THAT(Recorded::Instance().marks, IsEmpty());
}

}  // namespace
}  // namespace loopscope
