// What torch's allocator does with the memory of CUDA devices: how much it holds at the ends of steps, its peaks, its
// retries, and when it ran out. Loaded by the LibTorch probe once libc10_cuda.so is in the process.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <exception>

#include "probes/export.h"
#include "probes/preload/probe_api.h"
#include "probes/wire.h"

namespace loopscope {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;
using c10::CachingDeviceAllocator::DeviceStats;

constexpr std::uint64_t kHeldEveryNs = 20'000'000;  // a device's statistics are copied under the allocator's lock
constexpr int kMostDevices = 64;
constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

const ProbeApi* api = nullptr;

void Mark(wire::MarkKind kind, int device, std::uint64_t value) {
  char name[24];
  std::snprintf(name, sizeof name, "cuda:%d", device);
  api->mark(static_cast<std::uint8_t>(kind), name, value);
}

void Fact(int device, const char* what, std::int64_t value) {
  char key[64], text[24];
  std::snprintf(key, sizeof key, "device.%d.%s", device, what);
  std::snprintf(text, sizeof text, "%lld", static_cast<long long>(value));
  api->fact(key, text);
}

// Calls `visit` for each device on which the allocator has, or had, memory.
template <class Visit>
void ForEachUsed(const Visit& visit) noexcept {
  try {
    if (allocator::get() == nullptr || !allocator::get()->initialized()) return;
    const int count = std::min<int>(c10::cuda::device_count(), kMostDevices);
    for (int device = 0; device < count; ++device) {
      const DeviceStats stats = allocator::getDeviceStats(static_cast<c10::DeviceIndex>(device));
      if (stats.reserved_bytes[kAll].peak > 0) visit(device, stats);
    }
  } catch (const std::exception& error) {
    api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOff), error.what(), 0);
  }
}

// Called under the allocator's lock, maybe while another thread holds the GIL: writes one record and returns.
void OutOfMemory(std::int64_t device, std::size_t asked, std::size_t total, std::size_t free) {
  char text[160];
  std::snprintf(text, sizeof text, "cuda:%lld ran out of memory: %.1f MB were requested, %.1f of %.1f MB were free",
                static_cast<long long>(device), static_cast<double>(asked) / 1e6, static_cast<double>(free) / 1e6,
                static_cast<double>(total) / 1e6);
  api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOff), text, 0);
}

// Called once the allocator knows its devices: before, there is nothing to attach to.
void WatchMemoryRunOut() noexcept {
  static std::atomic<bool> watched{false};
  try {
    if (allocator::get() == nullptr || !allocator::get()->initialized() || watched.exchange(true)) return;
    allocator::attachOutOfMemoryObserver(OutOfMemory);
  } catch (const std::exception& error) {
    api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOff), error.what(), 0);
  }
}

void StepEnded() noexcept {
  WatchMemoryRunOut();
  static std::atomic<std::uint64_t> due_ns{0};
  const std::uint64_t now_ns = api->now_ns();
  if (now_ns < due_ns.load(std::memory_order_relaxed)) return;
  due_ns.store(now_ns + kHeldEveryNs, std::memory_order_relaxed);
  ForEachUsed([](int device, const DeviceStats& stats) {
    Mark(wire::MarkKind::kDeviceBytes, device, static_cast<std::uint64_t>(stats.allocated_bytes[kAll].current));
  });
}

void Finish() noexcept {
  ForEachUsed([](int device, const DeviceStats& stats) {
    Mark(wire::MarkKind::kPeakBytes, device, static_cast<std::uint64_t>(stats.allocated_bytes[kAll].peak));
    Fact(device, "alloc_retries", stats.num_alloc_retries);
    Fact(device, "out_of_memory", stats.num_ooms);
  });
}

}  // namespace
}  // namespace loopscope

extern "C" LOOPSCOPE_EXPORT const loopscope::DeviceMemoryHooks* loopscope_torch_cuda_attach(
    const loopscope::ProbeApi* offered) {
  using namespace loopscope;
  static const DeviceMemoryHooks hooks{.step_ended = StepEnded, .finish = Finish};
  if (offered == nullptr || offered->version != kProbeApiVersion) return nullptr;
  api = offered;
  return &hooks;
}
