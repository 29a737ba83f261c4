// c10::alloc_cpu and free_cpu: all memory of tensors on the CPU.
#include <malloc.h>

#include <atomic>

#include "probes/calls/interposed.h"
#include "probes/export.h"
#include "probes/preload/real_function.h"

#define LOOPSCOPE_ALLOC "_ZN3c109alloc_cpuEm"
#define LOOPSCOPE_FREE "_ZN3c108free_cpuEPv"

namespace loopscope {
namespace {

// What every call looks at, in one cache line.
struct alignas(64) Targets {
  std::atomic<const MemoryObserver*> observer{nullptr};
  std::atomic<void* (*)(std::size_t)> alloc{nullptr};
  std::atomic<void (*)(void*)> free{nullptr};
};
constinit Targets memory;

template <class Function>
[[gnu::cold]] Function* Find(std::atomic<Function*>& known, const char* symbol) {
  auto* const function = reinterpret_cast<Function*>(RealFunction(symbol));
  known.store(function, std::memory_order_relaxed);
  return function;
}

template <class Function>
Function* Real(std::atomic<Function*>& known, const char* symbol) {
  Function* const function = known.load(std::memory_order_relaxed);
  return function != nullptr ? function : Find(known, symbol);
}

// The size in malloc of this memory of LibTorch's; 0 if LibTorch has its own allocator, as builds for some processors
// do.
std::size_t MallocHolds(void* data) noexcept {
  static const bool by_malloc = LibraryCalls(RealFunction(LOOPSCOPE_ALLOC), "posix_memalign");
  return by_malloc ? malloc_usable_size(data) : 0;
}

}  // namespace

void ObserveMemory(const MemoryObserver* observer) noexcept {
  memory.observer.store(observer, std::memory_order_release);
}

}  // namespace loopscope

extern "C" LOOPSCOPE_EXPORT void* AllocCpu(std::size_t) asm(LOOPSCOPE_ALLOC);
void* AllocCpu(std::size_t bytes) {
  using namespace loopscope;
  void* const data = Real(memory.alloc, LOOPSCOPE_ALLOC)(bytes);
  if (const auto* const observer = memory.observer.load(std::memory_order_acquire)) {
    observer->allocated(data, bytes, MallocHolds(data));
  }
  return data;
}

extern "C" LOOPSCOPE_EXPORT void FreeCpu(void*) asm(LOOPSCOPE_FREE);
void FreeCpu(void* data) {
  using namespace loopscope;
  if (const auto* const observer = memory.observer.load(std::memory_order_acquire)) {
    observer->frees(data, MallocHolds(data));
  }
  Real(memory.free, LOOPSCOPE_FREE)(data);
}
