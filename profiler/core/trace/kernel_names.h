// The lists of kernel names that rules ask about, in one place. Names as CUPTI demangles them.
#pragma once

#include <string_view>

namespace loopscope::kernels {

// A float32 matmul without tensor cores: cuBLAS's "ampere_sgemm_128x64_tn", CUTLASS's "simt_sgemm". Those on tensor
// cores have tf32, s1688 or s16816 in their names.
bool IsFloat32Matmul(std::string_view name);

// cuDNN's and CUTLASS's change of layout around a convolution: nchwToNhwcKernel, nhwcToNchwKernel …
bool IsLayoutConversion(std::string_view name);

// cuDNN's convolutions, forward and backward.
bool IsConvolution(std::string_view name);

// The dtype of a matmul's or convolution's operands, as far as its kernel's name shows it; kNone for any other kernel.
// TensorFloat-32 counts as float32, which is what is in memory.
enum class Factors { kNone, kUnknown, kFloat32, k16Bit };
Factors FactorsOf(std::string_view name);

}  // namespace loopscope::kernels
