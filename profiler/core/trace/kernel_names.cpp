#include "profiler/core/trace/kernel_names.h"

#include <algorithm>
#include <array>

namespace loopscope::kernels {
namespace {

template <std::size_t N>
bool HasAny(std::string_view name, const std::array<std::string_view, N>& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != name.npos; });
}

constexpr std::array<std::string_view, 4> kFloat32Matmuls{"sgemm", "sgemv", "gemmSN", "gemv2T"};
constexpr std::array<std::string_view, 4> kTensorCores{"tf32", "s1688", "s16816", "tensorop"};
constexpr std::array<std::string_view, 4> kLayouts{"nchwToNhwc", "nhwcToNchw", "nchw2nhwc", "nhwc2nchw"};
constexpr std::array<std::string_view, 8> kConvolutions{"convolve", "conv2d",   "fprop",  "dgrad",
                                                        "wgrad",    "winograd", "scudnn", "implicit_gemm"};

constexpr std::array<std::string_view, 9> kProducts{"gemm",  "gemv",   "cutlass", "xmma",  "cublas",
                                                    "nvjet", "flash_", "fmha",    "matmul"};
constexpr std::array<std::string_view, 12> k16Bits{"f16",  "fp16", "h884",   "h1688",  "h16816",  "hgemm",
                                                   "half", "Half", "loat16", "flash_", "nvjet_h", "nvjet_t"};
constexpr std::array<std::string_view, 7> kFloat32s{"sgemm", "tf32", "s1688gemm", "scudnn", "f32f32", "<float", "fp32"};

}  // namespace

bool IsFloat32Matmul(std::string_view name) {
  // CUTLASS's convolutions on ordinary units are "sgemm" kernels too.
  return HasAny(name, kFloat32Matmuls) && !HasAny(name, kTensorCores) && !IsConvolution(name);
}
bool IsLayoutConversion(std::string_view name) {
  return HasAny(name, kLayouts);
}
bool IsConvolution(std::string_view name) {
  return HasAny(name, kConvolutions);
}

Factors FactorsOf(std::string_view name) {
  if (IsLayoutConversion(name) || !(IsConvolution(name) || HasAny(name, kProducts))) return Factors::kNone;
  if (HasAny(name, k16Bits)) return Factors::k16Bit;  // before the accumulator's dtype, which is float32
  return HasAny(name, kFloat32s) ? Factors::kFloat32 : Factors::kUnknown;
}

}  // namespace loopscope::kernels
