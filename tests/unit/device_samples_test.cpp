// Devices that were held back, according to their samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "profiler/importers/capture/devices.h"

namespace loopscope {
namespace {

using testing::ElementsAre, testing::IsEmpty;

void Add(Trace& trace, const std::string& name, double value) {
  trace.strings.push_back(name);
  Mark mark;
  mark.kind = MarkKind::kDeviceSample;
  mark.name = static_cast<StringId>(trace.strings.size() - 1);
  mark.value = std::bit_cast<std::uint64_t>(value);
  trace.marks.push_back(mark);
}

Trace Sampled(const std::string& device, int samples, int slowed) {
  Trace trace;
  for (int i = 0; i < samples; ++i) {
    Add(trace, device + " sm_clock_mhz", i < slowed ? 1200 : 1980);
    Add(trace, device + " slowed", i < slowed ? 1 : 0);
  }
  return trace;
}

TEST(SlowedDevices, NamesTheOneWithItsClock) {
  EXPECT_THAT(SlowedDevices(Sampled("cuda:1", 10, 4)),
              ElementsAre("cuda:1 was held back by power, heat or its board in 40 % of 10 samples (clock 1200 to 1980 "
                          "MHz)"));
}

TEST(SlowedDevices, NotForASecondInMany) {
  EXPECT_THAT(SlowedDevices(Sampled("cuda:0", 30, 2)), IsEmpty());
}

TEST(SlowedDevices, NotByTwoSamples) {
  EXPECT_THAT(SlowedDevices(Sampled("cuda:0", 2, 2)), IsEmpty());
}

TEST(SlowedDevices, OddNamesAreLeftAlone) {
  Trace trace;
  for (int i = 0; i < 5; ++i) Add(trace, "slowed", 1);
  EXPECT_THAT(SlowedDevices(trace), IsEmpty());
}

}  // namespace
}  // namespace loopscope
