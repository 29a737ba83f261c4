#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "profiler/core/trace/inputs.h"

namespace loopscope {
namespace {

using testing::ElementsAre;

TEST(ParseInputs, TensorsScalarsAndTheRest) {
  const auto inputs = ParseInputs("f32[32,3,48,48];bf16[64]@cuda:0!;-;true;1e-05;?;i64[]!");
  ASSERT_EQ(inputs.size(), 7u);
  EXPECT_TRUE(inputs[0].is_tensor && inputs[0].defined);
  EXPECT_EQ(inputs[0].dtype, "f32");
  EXPECT_THAT(inputs[0].sizes, ElementsAre(32, 3, 48, 48));
  EXPECT_EQ(inputs[0].device, "");
  EXPECT_FALSE(inputs[0].requires_grad);
  EXPECT_EQ(inputs[0].elements(), 32 * 3 * 48 * 48);
  EXPECT_EQ(inputs[0].bytes(), 4 * 32 * 3 * 48 * 48);
  EXPECT_EQ(inputs[1].device, "cuda:0");
  EXPECT_TRUE(inputs[1].requires_grad);
  EXPECT_EQ(inputs[1].bytes(), 128);
  EXPECT_TRUE(inputs[2].is_tensor);
  EXPECT_FALSE(inputs[2].defined);
  EXPECT_EQ(inputs[2].bytes(), 0);
  EXPECT_EQ(inputs[3].scalar, "true");
  EXPECT_EQ(inputs[4].scalar, "1e-05");
  EXPECT_FALSE(inputs[5].is_tensor || inputs[5].defined);
  EXPECT_EQ(inputs[6].elements(), 1);
  EXPECT_EQ(inputs[6].bytes(), 8);
}

TEST(ParseInputs, ListsOfTensors) {
  const auto inputs = ParseInputs("(f32[10]@cuda:0 i32[2,3] -);(f32[1] ...);()");
  ASSERT_EQ(inputs.size(), 3u);
  const auto tensors = ParseTensorList(inputs[0].scalar);
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].bytes(), 40);
  EXPECT_EQ(tensors[0].device, "cuda:0");
  EXPECT_EQ(tensors[1].elements(), 6);
  EXPECT_FALSE(tensors[2].defined);
  EXPECT_TRUE(ParseTensorList(inputs[1].scalar).empty()) << "what was cut is not known";
  EXPECT_TRUE(ParseTensorList(inputs[2].scalar).empty());
  EXPECT_TRUE(ParseTensorList("?").empty() && ParseTensorList("(").empty() && ParseTensorList("(1)").empty());
}

TEST(ParseInputs, LeavesHaveNumbers) {
  const auto inputs = ParseInputs("f32[8,4]!#12;f32[8]@cuda:0!#3;f32[8]!;f32[8]");
  ASSERT_EQ(inputs.size(), 4u);
  EXPECT_TRUE(inputs[0].requires_grad && inputs[1].requires_grad && inputs[2].requires_grad);
  EXPECT_EQ(inputs[0].leaf, 12u);
  EXPECT_EQ(inputs[1].leaf, 3u);
  EXPECT_EQ(inputs[1].device, "cuda:0");
  EXPECT_EQ(inputs[2].leaf, 0u);
  EXPECT_EQ(inputs[3].leaf, 0u);
}

TEST(ParseInputs, EmptyAndTrailing) {
  EXPECT_TRUE(ParseInputs("").empty());
  EXPECT_EQ(ParseInputs("f32[2];").size(), 2u);
  EXPECT_EQ(ParseInputs(";;").size(), 3u);
}

TEST(ParseInputs, WhatIsNoTensorIsAScalar) {
  for (const char* text : {"f32[", "f32[1,]", "f32[-1]", "f32[1]x", "q99[3]", "f32]1[", "f32[1 2]", "f32[2]!#",
                           "f32[2]!#x", "f32[2]!#3x", "f32[2]#3", "f32[2]!#99999999999"}) {
    const auto inputs = ParseInputs(text);
    ASSERT_EQ(inputs.size(), 1u) << text;
    EXPECT_FALSE(inputs[0].is_tensor) << text;
    EXPECT_EQ(inputs[0].scalar, text);
  }
}

TEST(ParsePadding, StandsBehindTheInputs) {
  const std::string_view text = "i64[16,115];0;false;padding=1204/1840";
  ASSERT_EQ(ParseInputs(text).size(), 3u);
  EXPECT_EQ(ParseInputs(text)[2].scalar, "false");
  ASSERT_TRUE(ParsePadding(text).has_value());
  EXPECT_EQ(ParsePadding(text)->padded, 1204u);
  EXPECT_EQ(ParsePadding(text)->tokens, 1840u);
}

TEST(ParsePadding, NothingToldOrNonsense) {
  for (const char* text :
       {"", "i64[16,115];0", ";padding=", "f32[1];padding=1", "f32[1];padding=1/", "f32[1];padding=/2",
        "f32[1];padding=3/2", "f32[1];padding=1/2x", "f32[1];padding=-1/2", "f32[1];padding=99999999999999999999/2"}) {
    EXPECT_FALSE(ParsePadding(text).has_value()) << text;
  }
}

TEST(ParseInputs, HugeSizesDoNotOverflow) {
  const auto inputs = ParseInputs("f64[4611686018427387904,4611686018427387904];other[3]");
  EXPECT_EQ(inputs[0].elements(), INT64_MAX);
  EXPECT_EQ(inputs[0].bytes(), INT64_MAX);
  EXPECT_EQ(inputs[1].bytes(), 0);
}

TEST(ParseInputs, AnyTextIsSplitAtItsSemicolons) {
  std::mt19937 random(2);
  const std::string letters = "f32bi6[],;@!-?:0";
  for (int round = 0; round < 5000; ++round) {
    std::string text(random() % 24, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    const auto expected = text.empty() ? 0 : std::ranges::count(text, ';') + 1;
    EXPECT_EQ(ParseInputs(text).size(), static_cast<std::size_t>(expected)) << text;
  }
}

}  // namespace
}  // namespace loopscope
