// Whether this process has CUDA, without asking torch too early.
#pragma once

#include <ATen/Context.h>
#include <dlfcn.h>

namespace loopscope {

// torch caches the first answer: asked before the program loads libtorch_cuda, it would never see a GPU.
inline bool CudaIsLoaded() {
  void* const library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

inline bool HasCuda() {
  return CudaIsLoaded() && at::hasCUDA();
}

}  // namespace loopscope
