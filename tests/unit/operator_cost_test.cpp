#include "profiler/core/graph/operator_cost.h"

#include <gtest/gtest.h>

#include <string_view>

namespace loopscope {
namespace {

OperatorCost Of(std::string_view op, std::string_view inputs) {
  const auto cost = CostOf(op, ParseInputs(inputs));
  EXPECT_TRUE(cost.has_value()) << op << " " << inputs;
  return cost.value_or(OperatorCost{});
}

struct Counted {
  std::string_view op, inputs;
  double flops, bytes;  // by hand
};

TEST(OperatorCost, ProductsAndConvolutionsByHand) {
  const Counted all[] = {
      {"aten::mm", "f32[64,512];f32[512,256]", 2.0 * 64 * 512 * 256, 4.0 * (64 * 512 + 512 * 256 + 64 * 256)},
      {"aten::addmm", "f32[10];bf16[32,20];bf16[20,10];1;1", 2.0 * 32 * 20 * 10,
       2.0 * (32 * 20 + 20 * 10 + 32 * 10) + 40},
      {"aten::bmm", "f32[8,16,32];f32[8,32,4]", 2.0 * 8 * 16 * 32 * 4, 4.0 * 8 * (16 * 32 + 32 * 4 + 16 * 4)},
      {"aten::matmul", "f32[8,16,32];f32[32]", 2.0 * 8 * 16 * 32, 4.0 * (8 * 16 * 32 + 32 + 8 * 16)},
      {"aten::mv", "f64[7,5];f64[5]", 2.0 * 7 * 5, 8.0 * (35 + 5 + 7)},
      {"aten::dot", "f32[100];f32[100]", 200, 4.0 * 201},
      {"aten::linear", "f32[4,7,512];f32[10,512]!;f32[10]!", 2.0 * 28 * 512 * 10,
       4.0 * (28 * 512 + 10 * 512 + 10 + 28 * 10)},
      {"aten::ger", "f32[3];f32[5]", 15, 4.0 * (3 + 5 + 15)},
      // An image of 32 x 32, kernels of 3 x 3, stride 2, padding 1: 16 x 16 positions.
      {"aten::convolution", "f32[8,3,32,32];f32[16,3,3,3];-;[2, 2];[1, 1];[1, 1];false;[0, 0];1",
       2.0 * 8 * 256 * 16 * 27, 4.0 * (8 * 3 * 1024 + 16 * 27 + 8 * 16 * 256)},
      // Depthwise: each output meets one channel.
      {"aten::convolution", "f32[2,32,10,10];f32[32,1,3,3];-;[1, 1];[1, 1];[1, 1];false;[0, 0];32",
       2.0 * 2 * 100 * 32 * 9, 4.0 * (2 * 3200 + 32 * 9 + 2 * 3200)},
      // Dilated, one dimension: reach 5, 16 positions of 20.
      {"aten::convolution", "f32[2,4,20];f32[6,4,3];f32[6];[1];[0];[2];false;[0];1", 2.0 * 2 * 16 * 6 * 12,
       4.0 * (2 * 80 + 72 + 2 * 6 * 16)},
      // Transposed: each input position meets the kernel; 2 x 2 becomes 4 x 4.
      {"aten::convolution", "f32[1,8,2,2];f32[8,4,2,2];-;[2, 2];[0, 0];[1, 1];true;[0, 0];1", 2.0 * 4 * 8 * 16,
       4.0 * (32 + 128 + 4 * 16)},
      {"aten::convolution_backward",
       "f32[8,16,16,16];f32[8,3,32,32];f32[16,3,3,3];-;[2, 2];[1, 1];[1, 1];false;[0, 0];1;[0, 1, 0]",
       2.0 * 8 * 256 * 16 * 27, 4.0 * (8 * 16 * 256 + 8 * 3 * 1024 + 16 * 27)},
      {"aten::convolution_backward",
       "f32[8,16,16,16];f32[8,3,32,32];f32[16,3,3,3];-;[2, 2];[1, 1];[1, 1];false;[0, 0];1;[1, 1, 0]",
       2 * 2.0 * 8 * 256 * 16 * 27, 4.0 * (8 * 16 * 256 + 2 * (8 * 3 * 1024 + 16 * 27))},
      // Two products of 6 x 8 queries by 10 keys, 16 wide.
      {"aten::_scaled_dot_product_flash_attention_for_cpu", "f32[2,3,8,16];f32[2,3,10,16];f32[2,3,10,16];0;false",
       2 * 2.0 * 6 * 8 * 10 * 16, 4.0 * 6 * 16 * (8 + 10 + 10 + 8)},
  };
  for (const Counted& one : all) {
    const OperatorCost cost = Of(one.op, one.inputs);
    EXPECT_DOUBLE_EQ(cost.flops, one.flops) << one.op << " " << one.inputs;
    EXPECT_DOUBLE_EQ(cost.bytes, one.bytes) << one.op << " " << one.inputs;
    EXPECT_TRUE(cost.product);
  }
  EXPECT_EQ(Of("aten::addmm", "f32[10];bf16[32,20];bf16[20,10];1;1").dtype, "bf16") << "not what is added";
}

TEST(OperatorCost, WhatMovesDataByHand) {
  const Counted all[] = {
      {"aten::add", "f32[4,1,8];f32[5,1];1", 4 * 5 * 8, 4.0 * (32 + 5 + 160)},
      {"aten::mul_", "f32[100];0.5", 100, 800},
      {"aten::relu", "bf16[10,10]", 100, 400},
      {"aten::copy_", "f32[50];f64[50];false", 50, 4.0 * 50 + 8.0 * 50 + 4.0 * 50},
      {"aten::sum", "f32[32,32];[1];false;-", 1024, 4096},
      {"aten::zero_", "f32[1000]", 0, 4000},
      {"aten::_softmax", "f32[8,100];-1;false", 4000, 6400},
      {"aten::native_layer_norm", "f32[8,64];[64];f32[64];f32[64];1e-05", 8 * 512, 2 * 2048.0},
      {"aten::embedding", "f32[1000,64];i64[4,7];-1;false;false", 0, 8.0 * 28 + 2.0 * 28 * 256},
      {"aten::embedding_dense_backward", "f32[4,7,64];i64[4,7];1000;-1;false", 28 * 64,
       4.0 * 28 * 64 + 8.0 * 28 + 4.0 * 64000},
      {"aten::index_select", "f32[10,20];1;i64[5]", 0, 40 + 2.0 * 5 * 10 * 4},
      {"aten::gather", "f32[10,20];1;i64[10,3]", 0, 240 + 2.0 * 30 * 4},
      {"aten::cat", "(f32[4,8] f32[2,8]);0", 0, 2.0 * 4 * 48},
  };
  for (const Counted& one : all) {
    const OperatorCost cost = Of(one.op, one.inputs);
    EXPECT_DOUBLE_EQ(cost.flops, one.flops) << one.op;
    EXPECT_DOUBLE_EQ(cost.bytes, one.bytes) << one.op;
    EXPECT_FALSE(cost.product);
  }
}

TEST(OperatorCost, AViewIsFree) {
  EXPECT_EQ(Of("aten::transpose", "f32[8,8];0;1").bytes, 0);
  EXPECT_EQ(Of("aten::empty", "[8, 8]").bytes, 0);
}

TEST(OperatorCost, WhatIsNotKnownHasNone) {
  EXPECT_FALSE(CostOf("mine::op", ParseInputs("f32[8]")));
  EXPECT_FALSE(CostOf("aten::_fft_r2c", ParseInputs("f32[8];[0];0;true")));
  EXPECT_FALSE(CostOf("aten::mm", ParseInputs("f32[8]"))) << "an operand is missing";
  EXPECT_FALSE(CostOf("aten::mm", ParseInputs("-;-")));
  EXPECT_FALSE(CostOf("aten::convolution", ParseInputs("f32[8,3,32,32];f32[16,3,3,3];-;?;?;?;false;?;1")))
      << "recorders before version 1.10 left lists out";
  EXPECT_FALSE(CostOf("aten::cat", ParseInputs("?;0")));
  EXPECT_FALSE(CostOf("aten::mm", {}));
}

TEST(OperatorCost, HugeOrEmptyShapesStayFinite) {
  const OperatorCost empty = Of("aten::mm", "f32[0,5];f32[5,0]");
  EXPECT_EQ(empty.flops, 0);
  EXPECT_EQ(empty.bytes, 0);
  EXPECT_GT(Of("aten::mm", "f32[4000000000,4000000000];f32[4000000000,4000000000]").flops, 1e28);
  EXPECT_GE(Of("aten::index_select", "f32[5,8];0;i64[0]").bytes, 0);
}

}  // namespace
}  // namespace loopscope
