// Names of kernels as cuBLAS, cuDNN and CUTLASS give them.
#include "profiler/core/trace/kernel_names.h"

#include <gtest/gtest.h>

namespace loopscope::kernels {
namespace {

TEST(KernelNames, TellTheFactors) {
  const std::pair<std::string_view, Factors> all[] = {
      {"ampere_sgemm_128x64_tn", Factors::kFloat32},
      {"volta_scudnn_128x64_relu_interior_nn_v1", Factors::kFloat32},
      {"cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4", Factors::kFloat32},
      {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw", Factors::kFloat32},
      {"void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>", Factors::kFloat32},
      {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", Factors::k16Bit},
      {"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", Factors::k16Bit},
      {"ampere_fp16_s1688gemm_fp16_128x128_ldg8_f2f_stages_32x1_nn", Factors::k16Bit},
      {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>>", Factors::k16Bit},
      {"nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", Factors::k16Bit},
      {"my_gemm_kernel", Factors::kUnknown},
      {"void at::native::vectorized_elementwise_kernel<4, FillFunctor<float>>", Factors::kNone},
      {"void cudnn::ops::nchwToNhwcKernel<float, float>", Factors::kNone},
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", Factors::kNone},
  };
  for (const auto& [name, factors] : all) EXPECT_EQ(FactorsOf(name), factors) << name;
}

TEST(KernelNames, Float32ProductsRunOnOrdinaryUnits) {
  EXPECT_TRUE(IsFloat32Matmul("volta_sgemm_32x128_nt"));
  EXPECT_TRUE(IsFloat32Matmul("void cutlass::Kernel<cutlass_80_simt_sgemm_128x128_8x4_nn_align1>"));
  EXPECT_FALSE(IsFloat32Matmul("cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4"));
  EXPECT_FALSE(IsFloat32Matmul("ampere_bf16_s16816gemm_bf16_128x128_tn"));
  EXPECT_FALSE(IsFloat32Matmul("void implicit_convolve_sgemm<float, float, 1024, 5, 5>"));
  EXPECT_TRUE(IsLayoutConversion("void cudnn::ops::nhwcToNchwKernel<__half, __half, float>"));
  EXPECT_FALSE(IsLayoutConversion("transpose_readWrite_alignment_kernel"));
}

}  // namespace
}  // namespace loopscope::kernels
