// Which calls of the runtime and the driver are recorded: those that launch, copy, fill, allocate or wait. Others are
// frequent and do not explain why a device is idle.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace loopscope {

// `name` as CUPTI has it: "cudaLaunchKernel_v7000", "__cudaLaunchKernel_v13000", "cuMemcpyHtoDAsync_v2".
inline bool IsRecordedCall(std::string_view name) {
  // cuMemCreate … cuMemSetAccess: caching allocators with expandable segments map and unmap memory with these.
  constexpr auto kPrefixes = std::to_array<std::string_view>({
      "cudaLaunch",        "cudaGraphLaunch", "cudaMemcpy",     "cudaMemset",
      "cudaMalloc",        "cudaFree",        "cudaHostAlloc",  "cudaHostRegister",
      "cudaDeviceSynch",   "cudaStreamSynch", "cudaEventSynch", "cudaStreamWaitEvent",
      "cuLaunch",          "cuGraphLaunch",   "cuMemcpy",       "cuMemset",
      "cuMemAlloc",        "cuMemFree",       "cuMemHostAlloc", "cuMemHostRegister",
      "cuMemCreate",       "cuMemMap",        "cuMemUnmap",     "cuMemRelease",
      "cuMemSetAccess",    "cuCtxSynch",      "cuStreamSynch",  "cuEventSynch",
      "cuStreamWaitEvent",
  });
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

enum class Calls {
  kRecorded,  // those
  kAll,       // of both interfaces: LOOPSCOPE_CUPTI_ALL=1 (env::kCuptiAll), for work on this probe
};

}  // namespace loopscope
