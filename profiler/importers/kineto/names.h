// What the names in a trace of PyTorch's profiler (Kineto) mean: categories, copies, input types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/core/trace/trace.h"

namespace loopscope {

enum class KinetoCategory : std::uint8_t {
  kOther,
  kOp,
  kAnnotation,
  kCall,
  kKernel,
  kCopy,
  kMemset,
  kWait,
  kPython,
  kInstant
};
KinetoCategory CategoryOfKineto(std::string_view cat);  // "cpu_op", "cuda_runtime", "hip_driver" …

bool IsHostRange(KinetoCategory category);   // an op, a user's range or a call of the device's runtime
bool IsDeviceWork(KinetoCategory category);  // on a device's stream, waits too

// What a host event is, by its name alone.
struct HostName {
  bool range = false;        // not an op
  RangeCategory category{};  // of ranges
  std::string_view shown;    // "SGD" for "Optimizer.step#SGD.step", else the whole name
};
HostName HostNameOf(KinetoCategory category, std::string_view name);

// "Memcpy HtoD (Pageable -> Device)" → kind, and the DeviceFlags that its name shows.
struct CopyName {
  CopyKind kind = CopyKind::kNotACopy;
  std::uint8_t flags = 0;
};
CopyName CopyNameOf(std::string_view name);

// "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "rcclGenericKernel…" → true.
bool IsCollectiveKernel(std::string_view name);

// Bytes of one element of a collective's dtype: "Float" → 4; 0 for an unknown dtype.
std::uint64_t BytesOfDtype(std::string_view dtype);

// "c10::BFloat16" → "bf16", as wire::OpDetailRecord names it; "other" for an unknown type.
std::string_view WireDtype(std::string_view type);

// "train.py(12): main"; nullopt for what has no file ("<built-in method …>", "nn.Module: Linear_0").
std::optional<Where> WhereOfFrame(std::string_view frame);

// Whether a frame is the user's own code: Kineto strips the folders on Python's path, so the standard library and
// installed packages are recognised by name.
bool IsUserFrame(const Where& where);

}  // namespace loopscope
