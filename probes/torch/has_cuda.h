// Whether this process has CUDA, without asking torch too early.
#pragma once

#include <ATen/Context.h>
#include <dlfcn.h>
#if __has_include(<c10/core/AllocatorConfig.h>)
#include <c10/core/AllocatorConfig.h>
#endif

#include <string>

namespace loopscope {

// torch keeps the first answer for good: asked before a program loads libtorch_cuda itself, it would never see a GPU.
inline bool CudaIsLoaded() {
  void* const library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

inline bool HasCuda() {
  return CudaIsLoaded() && at::hasCUDA();
}

// Whether the device allocator's blocks grow, "on" or "off"; `unknown` where this torch does not report it.
inline std::string ExpandableSegments(const std::string& unknown) {
#if __has_include(<c10/core/AllocatorConfig.h>)
  static_cast<void>(unknown);
  return c10::CachingAllocator::AcceleratorAllocatorConfig::use_expandable_segments() ? "on" : "off";
#else
  return unknown;
#endif
}

}  // namespace loopscope
