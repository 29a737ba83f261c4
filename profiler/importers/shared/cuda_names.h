// The meaning of CUDA's and NCCL's own names, for importers that read them as the libraries write them.
#pragma once

#include <string>
#include <string_view>

#include "profiler/core/trace/device_event.h"

namespace loopscope {

// "cudaLaunchKernel_v7000" → "cudaLaunchKernel", "cudaMemcpyAsync_ptsz_v7000" → "cudaMemcpyAsync".
std::string_view PlainCall(std::string_view name);
bool IsSynchronizingCall(std::string_view plain_call);  // cudaStreamSynchronize, hipDeviceSynchronize …

// "ncclDevKernel_AllReduce_Sum_f32_RING_LL" → "allreduce"; "" for a kernel that does not communicate.
std::string CollectiveOfKernel(std::string_view kernel);

std::string_view NameOfCopy(CopyKind kind);  // "Memcpy HtoD"

}  // namespace loopscope
