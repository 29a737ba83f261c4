// The lists of kernel names that rules ask about, in one place. Names as CUPTI demangles them.
#pragma once

#include <cstddef>
#include <string_view>

namespace loopscope::kernels {

// A float32 matmul without tensor cores: cuBLAS's "ampere_sgemm_128x64_tn", on newer devices
// "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_…_ffma_…", CUTLASS's "simt_sgemm". Those on tensor cores have tf32, s1688,
// s16816 or tensorop in their names, or are cuBLAS's nvjet.
bool IsFloat32Matmul(std::string_view name);

// cuDNN's and CUTLASS's change of layout around a convolution: nchwToNhwcKernel, nhwcToNchwKernel …
bool IsLayoutConversion(std::string_view name);

// Convolutions, forward and backward: cuDNN's, CUTLASS's and PyTorch's own.
bool IsConvolution(std::string_view name);

// The type of a matmul's, convolution's or attention's operands, as far as its kernel's name shows it; kNone for any
// other kernel. TensorFloat-32 counts as float32, which is what is in memory. kOther: 8 bit, integers, float64.
enum class Factors { kNone, kUnknown, kFloat32, k16Bit, kOther };
inline constexpr std::size_t kFactors = 5;
Factors FactorsOf(std::string_view name);

}  // namespace loopscope::kernels
