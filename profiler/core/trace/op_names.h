// The lists of the names of ops and of kernels that rules ask about, in one place.
#pragma once

#include <cstddef>
#include <string_view>

namespace loopscope::ops {

// Names of ops as at::RecordFunction and Kineto write them.
bool IsConvolution(std::string_view name);  // aten::conv2d, aten::convolution, aten::_convolution, mkldnn, cudnn …
bool IsMatmul(std::string_view name);       // aten::mm, addmm, bmm, baddbmm, linear, matmul, scaled dot product …
bool IsProduct(std::string_view name);      // either of them: what takes the time of most models
bool IsBatchNorm(std::string_view name);    // the outermost aten::batch_norm and its variants
bool IsRecurrent(std::string_view name);    // aten::lstm, gru_cell …: recurrent layers and their cells
bool IsView(std::string_view name);         // aten::view, t, transpose, slice …: another view of the same memory
bool IsDropout(std::string_view name);      // aten::dropout and its variants: (input, p, train)
bool IsHostRead(std::string_view name);  // aten::item, aten::_local_scalar_dense, is_nonzero: a value goes to the host
bool IsZeroFill(std::string_view name);  // aten::zero_, aten::_foreach_zero_
bool IsCopy(std::string_view name);      // aten::copy_, aten::_to_copy, aten::clone
bool IsRandomOrFill(std::string_view name);  // aten::rand, randn, zeros, full …
bool IsAccumulate(std::string_view name);    // aten::add, aten::add_
bool IsScatter(
    std::string_view name);  // has a slower form under torch.use_deterministic_algorithms: scatter, index_add …
bool IsUninitialized(std::string_view name);  // aten::empty and its variants, aten::resize_
// Code that torch.compile generated runs under its own name: "Torch-Compiled Region: 0/0".
bool IsCompiledRegion(std::string_view name);
bool IsBackwardNode(std::string_view name);     // autograd::engine::evaluate_function: …
std::string_view Shown(std::string_view name);  // without autograd's prefix of backward nodes
bool IsAccumulateNode(std::string_view name);   // the backward node that adds to a parameter's gradient, and its hooks

}  // namespace loopscope::ops

namespace loopscope::kernels {

// Names of kernels as CUPTI demangles them.

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
