#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "profiler/importers/capture/run_files.h"

namespace loopscope {
namespace {

std::vector<MeasuredGain> Read(const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "forms.json";
  std::ofstream(path) << text;
  return ReadFormsJson(path);
}

constexpr char kHead[] = R"({"schema": "loopscope.forms/1", "trials": [)";
constexpr char kTrial[] =
    R"({"change": "form=a", "work": "f32[2]", "before_ns": 40, "after_ns": 10, "ratio_low": 0.2, "ratio_high": 0.3})";

TEST(FormsJson, HasWhatWasTried) {
  const auto gains = Read(std::string(kHead) + kTrial + "]}");
  ASSERT_EQ(gains.size(), 1u);
  EXPECT_EQ(gains[0].change, "form=a");
  EXPECT_EQ(gains[0].work, "f32[2]");
  EXPECT_EQ(gains[0].before_ns, 40);
  EXPECT_EQ(gains[0].after_ns, 10);
  EXPECT_DOUBLE_EQ(gains[0].ratio_low, 0.2);
  EXPECT_DOUBLE_EQ(gains[0].ratio_high, 0.3);
}

TEST(FormsJson, DamagedOnesAreLeftOut) {
  EXPECT_TRUE(ReadFormsJson("/no/such/file").empty());
  EXPECT_TRUE(ReadFormsJson(testing::TempDir()).empty());
  for (const char* text : {"", "{", "[]", "3", R"({"schema": "loopscope.forms/2", "trials": []})",
                           R"({"schema": "loopscope.forms/1", "trials": 3})", R"({"schema": 7})"}) {
    EXPECT_TRUE(Read(text).empty()) << text;
  }
  // Times that cannot be, and what was read before the damage.
  EXPECT_TRUE(
      Read(std::string(kHead) + R"({"change": "form=a", "work": "", "before_ns": -4, "after_ns": 1}]})").empty());
  EXPECT_EQ(Read(std::string(kHead) + kTrial + R"(, {"change": 5}]})").size(), 1u);
}

}  // namespace
}  // namespace loopscope
