#include "profiler/core/trace/op_names.h"

#include <gtest/gtest.h>

namespace loopscope::ops {
namespace {

TEST(OpNames, EachListKnowsItsOwnAndNotItsNeighbours) {
  EXPECT_TRUE(IsConvolution("aten::conv2d"));
  EXPECT_TRUE(IsConvolution("aten::mkldnn_convolution"));
  EXPECT_FALSE(IsConvolution("aten::conv2d_weight"));
  EXPECT_FALSE(IsConvolution("conv2d"));
  EXPECT_TRUE(IsMatmul("aten::addmm"));
  EXPECT_TRUE(IsMatmul("aten::mm"));
  EXPECT_TRUE(IsMatmul("aten::scaled_dot_product_attention"));
  EXPECT_TRUE(IsMatmul("aten::mkldnn_rnn_layer")) << "a recurrent layer's products lie inside one op";
  EXPECT_FALSE(IsMatmul("aten::mul"));
  EXPECT_TRUE(IsBatchNorm("aten::batch_norm"));
  EXPECT_FALSE(IsBatchNorm("aten::native_batch_norm")) << "nested: it would be counted twice";
  EXPECT_FALSE(IsBatchNorm("aten::layer_norm"));
  EXPECT_TRUE(IsDropout("aten::dropout"));
  EXPECT_FALSE(IsDropout("aten::native_dropout")) << "nested";
  EXPECT_TRUE(IsHostRead("aten::item"));
  EXPECT_TRUE(IsHostRead("aten::_local_scalar_dense"));
  EXPECT_FALSE(IsHostRead("aten::copy_"));
  EXPECT_TRUE(IsZeroFill("aten::_foreach_zero_"));
  EXPECT_FALSE(IsZeroFill("aten::zeros"));
  EXPECT_TRUE(IsCopy("aten::clone"));
  EXPECT_FALSE(IsCopy("aten::contiguous"));
  EXPECT_TRUE(IsRandomOrFill("aten::randn"));
  EXPECT_FALSE(IsRandomOrFill("aten::empty"));
  EXPECT_TRUE(IsAccumulate("aten::add_"));
  EXPECT_FALSE(IsAccumulate("aten::addmm"));
  EXPECT_TRUE(IsBackwardNode("autograd::engine::evaluate_function: ConvolutionBackward0"));
  EXPECT_FALSE(IsBackwardNode("ConvolutionBackward0"));
  EXPECT_TRUE(IsAccumulateNode("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"));
  EXPECT_FALSE(IsAccumulateNode("autograd::engine::evaluate_function: AddBackward0"));
}

}  // namespace
}  // namespace loopscope::ops
