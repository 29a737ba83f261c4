// Names of kernels as cuBLAS, cuDNN, CUTLASS, PyTorch and Inductor give them.
#include <gtest/gtest.h>

#include "profiler/core/trace/op_names.h"

namespace loopscope::kernels {
namespace {

TEST(KernelNames, TellTheFactors) {
  const std::pair<std::string_view, Factors> all[] = {
      {"ampere_sgemm_128x64_tn", Factors::kFloat32},
      {"ampere_gcgemm_64x64_nt", Factors::kFloat32},
      {"volta_scudnn_128x64_relu_interior_nn_v1", Factors::kFloat32},
      {"void magma_sgemmEx_kernel<float, float, float, true, false, 6, 4, 6, 3, 4>(int, int, int, Tensor)",
       Factors::kFloat32},
      {"cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4", Factors::kFloat32},
      {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw", Factors::kFloat32},
      {"void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>", Factors::kFloat32},
      {"void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, false, false, 0, 0, int, float, float, float>",
       Factors::kFloat32},
      {"_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS_10tfloat32_tENS_9transform",
       Factors::kFloat32},
      {"void gemvNSP_kernel<float, float, float, float, 1, 16, 4, 1024, cublasGemvParams<float> >", Factors::kFloat32},
      {"void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false>", Factors::k16Bit},
      {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", Factors::k16Bit},
      {"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", Factors::k16Bit},
      {"volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc2nchw_tn_v1", Factors::k16Bit},
      {"ampere_fp16_s1688gemm_fp16_128x128_ldg8_f2f_stages_32x1_nn", Factors::k16Bit},
      {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816dgrad_optimized_bf16_128x128_32x5_nhwc_align8>",
       Factors::k16Bit},
      {"cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_tn_align8", Factors::k16Bit},
      {"cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1", Factors::kOther},
      {"void gemmSN_NN_kernel<double, 256, 4, 2, 8, 3, 4, false, cublasGemvTensorStridedBatched<double const> >",
       Factors::kOther},
      {"my_gemm_kernel", Factors::kUnknown},
  };
  for (const auto& [name, factors] : all) EXPECT_EQ(FactorsOf(name), factors) << name;
}

// Since Hopper the first of several types decides: A's, before the others', the accumulator's and the epilogue's.
TEST(KernelNames, TellTheFactorsSinceHopper) {
  const std::pair<std::string_view, Factors> all[] = {
      {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_"
       "kernel__5x_cublas",
       Factors::kFloat32},
      {"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4_warpsize2x2x1_tensor16x8x8_execute_kernel",
       Factors::kFloat32},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__"
       "5x_cublas",
       Factors::k16Bit},
      {"sm90_xmma_gemm_f16f16_f16f32_f32_nt_n_tilesize64x64x64_warpgroupsize1x1x1_execute_kernel", Factors::k16Bit},
      {"sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x128x128_warpgroupsize1x1x1_bias_execute_kernel",
       Factors::kOther},
      {"sm80_xmma_gemm_f64f64_f64f64_f64_tn_n_tilesize64x64x16_stage3_warpsize2x2x1_tensor8x8x4", Factors::kOther},
      {"sm90_xmma_dgrad_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x64x32_execute_kernel__5x_cudnn",
       Factors::kFloat32},
      {"sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_warpgroupsize1x1x1_g1_"
       "execute_segment_k_off_kernel__5x_cudnn",
       Factors::k16Bit},
      {"sm80_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32", Factors::k16Bit},
      {"cutlass3x_sm90_tensorop_s64x128x8gemm_f32_f32_f32_f32_f32_128x128x32_1x2x1_0_tnn_align4", Factors::kFloat32},
      {"cutlass3x_sm90_tensorop_s64x128x8gemm_tf32_tf32_f32_f32_f32_128x128x32_2x1x1_0_tnn_align4", Factors::kFloat32},
      {"cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64_1x1x1_0_tnn_align8", Factors::k16Bit},
      {"cutlass3x_sm90_tensorop_gemm_f16_f16_f32_void_f32_128x256x64_2x1x1_0_tnn_align8", Factors::k16Bit},
      {"cutlass3x_sm90_tensorop_gemm_s8_s8_s32_s8_s8_128x256x128_2x1x1_0_tnn_align16", Factors::kOther},
      {"nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", Factors::k16Bit},
      {"nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT", Factors::k16Bit},
      {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", Factors::k16Bit},
      {"nvjet_sm90_hss_320x128_64x3_1x2_h_bz_coopB_NNT", Factors::k16Bit},
      {"nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT", Factors::k16Bit},
      {"nvjet_sm121_tst_mma_128x128x64_3_64x32x64_tmaAB_splitK_TNNN", Factors::k16Bit},
      {"nvjet_qqtst_128x256_128x6_2x1_2cta_v_bz_TNT", Factors::kOther},
      {"nvjet_sm120_qqtst_mma_128x128x128_2_64x32x128_tmaAB_TNNN", Factors::kOther},
      {"nvjet_sm100_ootst_128x128_256x7_4x1_2cta_v_bx_Avec16UE4M3_Bvec16UE4M3_TNT", Factors::kOther},
      {"cutlass3x_sm100_bstensorop_s256x192x64gemm_block_scaled_ue4m3xf4_ue4m3xf4_f32_f16_f16_256x192x256",
       Factors::kOther},
      {"nvjet_sm90_sss_128x128_32x4_1x2_h_bz_coopA_TNN", Factors::kFloat32},
      {"nvjet_ssx_128x128_32x4_1x2_h_bz_coopA_TNN", Factors::kFloat32},
      {"nvjet_", Factors::kUnknown},
      {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, __nv_bfloat16, true, true>",
       Factors::k16Bit},
  };
  for (const auto& [name, factors] : all) EXPECT_EQ(FactorsOf(name), factors) << name;
}

TEST(KernelNames, TellTheFactorsOfAttention) {
  const std::pair<std::string_view, Factors> all[] = {
      {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>>", Factors::k16Bit},
      {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
       "cutlass::bfloat16_t>, false, true>",
       Factors::k16Bit},
      {"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<cutlass::bfloat16_t, float> > "
       ">",
       Factors::k16Bit},
      {"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float, "
       "cutlass::arch::Sm80, true, 64, 64, 64, true, true>::Params)",
       Factors::kFloat32},
      {"fmha_cutlassB_bf16_aligned_64x64_k64_sm80(PyTorchMemEffAttention::AttentionBackwardKernel<cutlass::bfloat16_t>"
       ")",
       Factors::k16Bit},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_32_64x128x64_4x1x1_kernel0_0",
       Factors::k16Bit},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_bf16_knob_30_128x128x64_4x1x1_kernel0_0",
       Factors::k16Bit},
  };
  for (const auto& [name, factors] : all) {
    EXPECT_EQ(FactorsOf(name), factors) << name;
    EXPECT_FALSE(IsConvolution(name)) << name;
    EXPECT_FALSE(IsFloat32Matmul(name)) << name;
  }
}

TEST(KernelNames, OtherKernelsHaveNone) {
  for (const std::string_view name : {
           "void at::native::vectorized_elementwise_kernel<4, FillFunctor<float>>",
           "void cudnn::ops::nchwToNhwcKernel<float, float>",
           "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
           "triton_red_fused_native_layer_norm_3",
           "triton_poi_fused_convolution_relu_0",
           "triton_per_fused_conv2d_matmul_1",
           "void fbgemm_gpu::permute_2D_data_kernel<false, int, int>",
           "void cask_cudnn::computeOffsetsKernel<false, false>(cask_cudnn::ComputeOffsetsParams)",
       }) {
    EXPECT_EQ(FactorsOf(name), Factors::kNone) << name;
    EXPECT_FALSE(IsConvolution(name)) << name;
  }
  EXPECT_EQ(FactorsOf("triton_tem_fused_mm_t_0"), Factors::kUnknown) << "a product whose name does not tell its type";
}

TEST(KernelNames, Float32ProductsRunOnOrdinaryUnits) {
  for (const std::string_view name : {
           "volta_sgemm_32x128_nt",
           "ampere_sgemm_32x32_sliced1x4_tn",
           "void cutlass::Kernel<cutlass_80_simt_sgemm_128x128_8x4_nn_align1>",
           "cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_128x64x16_1x1x1_3_nnn_align1_bias_f32_relu",
           "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_execute_"
           "kernel__5x_cublas",
           "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_"
           "split_k_kernel__5x_cublas",
       }) {
    EXPECT_TRUE(IsFloat32Matmul(name)) << name;
  }
  for (const std::string_view name : {
           "cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4",
           "ampere_bf16_s16816gemm_bf16_128x128_tn",
           "void implicit_convolve_sgemm<float, float, 1024, 5, 5>",
           "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize128x128x8_stage3_ffma",
           "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4_warpsize2x2x1_tensor16x8x8",
           "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_kernel__5x_cublas",
           "cutlass3x_sm90_tensorop_s64x128x8gemm_f32_f32_f32_f32_f32_128x128x32_1x2x1_0_tnn_align4",
           "nvjet_sm90_sss_128x128_32x4_1x2_h_bz_coopA_TNN",
           "nvjet_ssx_128x128_32x4_1x2_h_bz_coopA_TNN",
           "void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false>",
           "void at::native::vectorized_elementwise_kernel<4, FillFunctor<float>>",
       }) {
    EXPECT_FALSE(IsFloat32Matmul(name)) << name;
  }
}

TEST(KernelNames, LayoutsAndConvolutions) {
  EXPECT_TRUE(IsLayoutConversion("void cudnn::ops::nhwcToNchwKernel<__half, __half, float>"));
  EXPECT_FALSE(IsLayoutConversion("volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc2nchw_tn_v1"));
  EXPECT_FALSE(IsLayoutConversion("transpose_readWrite_alignment_kernel"));
  EXPECT_TRUE(IsConvolution("sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc__5x_cudnn"));
  EXPECT_TRUE(IsConvolution("void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>"));
  EXPECT_TRUE(IsConvolution("turing_fp16_s1688cudnn_fp16_256x64_ldg8_relu_f2f_exp_medium_nhwc_tn_v1"));
  EXPECT_FALSE(IsConvolution("ampere_sgemm_128x64_tn"));
}

}  // namespace
}  // namespace loopscope::kernels
