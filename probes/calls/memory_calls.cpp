// c10::alloc_cpu and free_cpu: all memory of tensors on the CPU.
#include "probes/calls/memory_calls.h"

#include <malloc.h>

#include <atomic>

#include "probes/export.h"
#include "probes/preload/real_function.h"

#define LOOPSCOPE_ALLOC "_ZN3c109alloc_cpuEm"
#define LOOPSCOPE_FREE "_ZN3c108free_cpuEPv"

namespace loopscope {
namespace {

std::atomic<const MemoryObserver*> memory_observer{nullptr};

// The size in malloc of this memory of LibTorch's; 0 if LibTorch has its own allocator, as builds for some processors
// do.
std::size_t MallocHolds(void* data) noexcept {
  static const bool by_malloc = LibraryCalls(RealFunction(LOOPSCOPE_ALLOC), "posix_memalign");
  return by_malloc ? malloc_usable_size(data) : 0;
}

}  // namespace

void ObserveMemory(const MemoryObserver* observer) noexcept {
  memory_observer.store(observer, std::memory_order_release);
}

}  // namespace loopscope

extern "C" LOOPSCOPE_EXPORT void* AllocCpu(std::size_t) asm(LOOPSCOPE_ALLOC);
void* AllocCpu(std::size_t bytes) {
  static auto* const real = reinterpret_cast<void* (*)(std::size_t)>(loopscope::RealFunction(LOOPSCOPE_ALLOC));
  void* const data = real(bytes);
  if (const auto* const observer = loopscope::memory_observer.load(std::memory_order_acquire)) {
    observer->allocated(data, bytes, loopscope::MallocHolds(data));
  }
  return data;
}

extern "C" LOOPSCOPE_EXPORT void FreeCpu(void*) asm(LOOPSCOPE_FREE);
void FreeCpu(void* data) {
  static auto* const real = reinterpret_cast<void (*)(void*)>(loopscope::RealFunction(LOOPSCOPE_FREE));
  if (const auto* const observer = loopscope::memory_observer.load(std::memory_order_acquire)) {
    observer->frees(data, loopscope::MallocHolds(data));
  }
  real(data);
}
