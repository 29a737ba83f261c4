// alloc.expandable=on|off: whether the blocks of the device's allocator grow; the environment sets it.
#if __has_include(<c10/core/AllocatorConfig.h>)
#include <c10/core/AllocatorConfig.h>
#endif

#include "probes/torch/applier.h"
#include "probes/torch/has_cuda.h"

namespace loopscope {
namespace {

std::string RefusalOfAllocExpandable(std::string_view) {
  return HasCuda() ? "" : "no CUDA device";
}

std::string ReadAllocExpandable() {
#if __has_include(<c10/core/AllocatorConfig.h>)
  return c10::CachingAllocator::AcceleratorAllocatorConfig::use_expandable_segments() ? "on" : "off";
#else
  return "";
#endif
}

}  // namespace

extern const Applier kAllocExpandable{"alloc.expandable",
                                      "PYTORCH_CUDA_ALLOC_CONF",
                                      RefusalOfAllocExpandable,
                                      ReadAllocExpandable,
                                      nullptr,
                                      nullptr,
                                      nullptr};

}  // namespace loopscope
