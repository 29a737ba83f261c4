#include <algorithm>
#include <array>

#include "profiler/core/trace/op_names.h"

namespace loopscope::kernels {
namespace {

template <std::size_t N>
bool HasAny(std::string_view name, const std::array<std::string_view, N>& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != name.npos; });
}

constexpr std::array<std::string_view, 4> kLayouts{"nchwToNhwc", "nhwcToNchw", "nchw2nhwc", "nhwc2nchw"};
// cuDNN's older kernels end the units' shape in "cudnn": scudnn, s884cudnn, h16816cudnn …
constexpr std::array<std::string_view, 15> kConvolutions{
    "convolve", "conv2d",        "Conv2d", "conv_depthwise", "onvolution", "fprop",   "dgrad",  "wgrad",
    "winograd", "implicit_gemm", "scudnn", "hcudnn",         "84cudnn",    "88cudnn", "16cudnn"};
constexpr std::array<std::string_view, 5> kAttention{"flash_", "flash::", "Flash", "fmha", "sdpa"};

constexpr std::array<std::string_view, 7> kProducts{"gemv", "cutlass", "xmma", "cublas", "nvjet", "matmul", "gemmSN"};

// Marks of a type anywhere in a name, asked in this order: accumulators and scales are float32 in kernels of any type.
constexpr std::array<std::string_view, 12> kOthers{"e4m3", "e5m2",  "fp8",   "i8i8",  "int8_", "igemm",
                                                   "imma", "dgemm", "zgemm", "dgemv", "d884",  "f64"};
constexpr std::array<std::string_view, 13> k16Bits{"f16",   "fp16", "s884", "h884",   "h1688",  "16816", "161616",
                                                   "hgemm", "half", "Half", "loat16", "hcudnn", "flash_"};
constexpr std::array<std::string_view, 8> kFloat32s{"sgemm",  "sgemv", "cgemm", "s1688",
                                                    "scudnn", "f32",   "fp32",  "float"};

// How libraries begin the word for a type.
struct Spelling {
  std::string_view text;
  Factors factors;
};
constexpr std::array<Spelling, 14> kSpellings{{{"bf16", Factors::k16Bit},
                                               {"f16", Factors::k16Bit},
                                               {"fp16", Factors::k16Bit},
                                               {"tf32", Factors::kFloat32},
                                               {"f32", Factors::kFloat32},
                                               {"fp32", Factors::kFloat32},
                                               {"f64", Factors::kOther},
                                               {"e4m3", Factors::kOther},
                                               {"e5m2", Factors::kOther},
                                               {"ue4m3", Factors::kOther},
                                               {"ue8m0", Factors::kOther},
                                               {"i8", Factors::kOther},
                                               {"s8", Factors::kOther},
                                               {"u8", Factors::kOther}}};

Factors SpelledAt(std::string_view word) {
  for (const Spelling& one : kSpellings) {
    if (word.starts_with(one.text)) return one.factors;
  }
  return Factors::kUnknown;
}

// The first word that is a type after "gemm_": cuBLAS, cuDNN and CUTLASS write A's type first, then the others' and the
// accumulator's: "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", "cutlass3x_sm90_tensorop_s64x128x8gemm_f32_f32_f32".
Factors AfterGemm(std::string_view name) {
  constexpr std::string_view kGemm = "gemm_";
  const std::size_t at = name.find(kGemm);
  if (at == name.npos) return Factors::kUnknown;
  for (std::string_view rest = name.substr(at + kGemm.size());;) {
    if (const Factors found = SpelledAt(rest); found != Factors::kUnknown) return found;
    const std::size_t next = rest.find('_');
    if (next == rest.npos) return Factors::kUnknown;
    rest.remove_prefix(next + 1);
  }
}

// "nvjet_tst_128x256…", since Hopper "nvjet_sm90_tst_…": a letter for each of A's, the products' and the result's type.
Factors OfNvjet(std::string_view name) {
  constexpr std::string_view kNvjet = "nvjet_";
  std::string_view rest = name.substr(name.find(kNvjet) + kNvjet.size());
  if (rest.starts_with("sm") && rest.find('_') != rest.npos) rest.remove_prefix(rest.find('_') + 1);
  switch (rest.empty() ? ' ' : rest.front()) {
    case 'h':
    case 't':
      return Factors::k16Bit;
    case 's':
      return Factors::kFloat32;
    case 'q':
    case 'e':
    case 'o':
    case 'd':
      return Factors::kOther;
    default:
      return Factors::kUnknown;
  }
}

// "fbgemm_gpu::permute_2D_data_kernel" is not a product.
bool HasGemm(std::string_view name) {
  for (std::size_t at = name.find("gemm"); at != name.npos; at = name.find("gemm", at + 1)) {
    if (at < 2 || name.substr(at - 2, 2) != "fb") return true;
  }
  return false;
}

// Inductor names its kernels after all operators that it fused. Only its templates compute products.
bool IsFused(std::string_view name) {
  return name.starts_with("triton_") && !name.starts_with("triton_tem_");
}

bool IsProduct(std::string_view name) {
  if (IsFused(name) || IsLayoutConversion(name)) return false;
  return name.starts_with("triton_tem_") || HasGemm(name) || HasAny(name, kProducts) || HasAny(name, kAttention) ||
         IsConvolution(name);
}

// Units that do no more than one float32 product at a time.
constexpr std::array<std::string_view, 6> kOrdinary{"sgemm",  "sgemv",  "gemmSN",
                                                    "gemv2T", "_ffma_", "gemm_f32f32_f32f32"};
constexpr std::array<std::string_view, 7> kTensorCores{"tf32",     "s1688", "s16816", "tensorop",
                                                       "tensor16", "hmma",  "gmma"};

}  // namespace

bool IsFloat32Matmul(std::string_view name) {
  // CUTLASS's convolutions on ordinary units are "sgemm" kernels too.
  return HasAny(name, kOrdinary) && !HasAny(name, kTensorCores) && !IsConvolution(name) &&
         FactorsOf(name) == Factors::kFloat32;
}

bool IsLayoutConversion(std::string_view name) {
  // Some of cuDNN's convolutions convert on the way: "volta_fp16_s884cudnn_…_nhwc2nchw_tn_v1".
  return HasAny(name, kLayouts) && !HasAny(name, kConvolutions);
}

bool IsConvolution(std::string_view name) {
  // Attention has a forward pass ("fprop") too.
  return HasAny(name, kConvolutions) && !HasAny(name, kAttention) && !IsFused(name);
}

Factors FactorsOf(std::string_view name) {
  if (!IsProduct(name)) return Factors::kNone;
  if (name.find("nvjet_") != name.npos) return OfNvjet(name);
  if (const Factors spelled = AfterGemm(name); spelled != Factors::kUnknown) return spelled;
  if (HasAny(name, kOthers)) return Factors::kOther;
  if (HasAny(name, k16Bits)) return Factors::k16Bit;
  if (HasAny(name, kFloat32s)) return Factors::kFloat32;
  return name.find("double") != name.npos ? Factors::kOther : Factors::kUnknown;
}

}  // namespace loopscope::kernels
