#include "probes/cupti/utilization.h"

#include <dlfcn.h>

#include <bit>
#include <cstdio>

#include "probes/find_function.h"
#include "probes/wire.h"

namespace loopscope {
namespace {

// The used part of NVML's interface, which is the same in all drivers. Not every CUDA includes its header.
using NvmlDevice = void*;
constexpr int kSuccess = 0, kClockOfMultiprocessors = 1;
struct NvmlUtilization {
  unsigned gpu, memory;  // percent
};
struct NvmlMemory {
  unsigned long long total, free, used;  // bytes
};

struct Nvml {
  int (*init)() = nullptr;
  int (*by_uuid)(const char* uuid, NvmlDevice* device) = nullptr;
  int (*utilization)(NvmlDevice device, NvmlUtilization* use) = nullptr;
  int (*memory)(NvmlDevice device, NvmlMemory* memory) = nullptr;
  int (*clock)(NvmlDevice device, int which, unsigned* mhz) = nullptr;
  int (*reasons)(NvmlDevice device, unsigned long long* bits) = nullptr;
  bool works = false;
};

// Stays loaded: NVML's threads and state may outlive this library's use of it.
Nvml LoadNvml() noexcept {
  Nvml nvml;
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nvml;
  const bool found =
      Find(library, "nvmlInit_v2", nvml.init) && Find(library, "nvmlDeviceGetHandleByUUID", nvml.by_uuid) &&
      Find(library, "nvmlDeviceGetUtilizationRates", nvml.utilization) &&
      Find(library, "nvmlDeviceGetMemoryInfo", nvml.memory) && Find(library, "nvmlDeviceGetClockInfo", nvml.clock) &&
      // Older drivers know it by the second name.
      (Find(library, "nvmlDeviceGetCurrentClocksEventReasons", nvml.reasons) ||
       Find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.reasons));
  nvml.works = found && nvml.init() == kSuccess;
  return nvml;
}

const Nvml& Library() noexcept {
  static const Nvml nvml = LoadNvml();
  return nvml;
}

// Throttled by power, heat or the board; not by idleness or a setting.
constexpr unsigned long long kPowerCap = 0x4, kHardware = 0x8, kHeat = 0x20, kHardwareHeat = 0x40, kPowerBrake = 0x80;
constexpr unsigned long long kSlowed = kPowerCap | kHardware | kHeat | kHardwareHeat | kPowerBrake;

}  // namespace

UuidText TextOf(const DeviceUuid& uuid) noexcept {
  UuidText text{};
  std::size_t at = static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "GPU-"));
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    const char* dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    at += static_cast<std::size_t>(std::snprintf(text.data() + at, text.size() - at, "%s%02x", dash, uuid.bytes[i]));
  }
  return text;
}

void UtilizationSampler::Know(std::uint32_t ordinal, const DeviceUuid& uuid) noexcept {
  if (ordinal >= known_.size() || known_[ordinal].ready.load(std::memory_order_relaxed)) return;
  known_[ordinal].uuid = uuid;
  known_[ordinal].ready.store(true, std::memory_order_release);
}

void* UtilizationSampler::HandleOf(Known& known) noexcept {
  if (known.asked) return known.handle;
  known.asked = true;
  NvmlDevice handle = nullptr;
  // A slice of a device (MIG) is not found by its UUID: its use cannot be read separately.
  if (Library().by_uuid(TextOf(known.uuid).data(), &handle) == kSuccess) known.handle = handle;
  return known.handle;
}

void UtilizationSampler::Write(std::uint32_t ordinal, const char* what, double value) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "cuda:%u %s", ordinal, what);
  api_.mark(static_cast<std::uint8_t>(wire::MarkKind::kDeviceSample), name, std::bit_cast<std::uint64_t>(value));
}

void UtilizationSampler::Sample() noexcept {
  if (!Library().works) return;
  const Nvml& nvml = Library();
  for (std::uint32_t ordinal = 0; ordinal < known_.size(); ++ordinal) {
    Known& known = known_[ordinal];
    if (!known.ready.load(std::memory_order_acquire)) continue;
    const NvmlDevice device = HandleOf(known);
    if (device == nullptr) continue;
    NvmlUtilization use{};
    if (nvml.utilization(device, &use) == kSuccess) Write(ordinal, "utilization_pct", use.gpu);
    NvmlMemory memory{};
    if (nvml.memory(device, &memory) == kSuccess) {
      Write(ordinal, "memory_used_bytes", static_cast<double>(memory.used));
    }
    unsigned clock_mhz = 0;
    if (nvml.clock(device, kClockOfMultiprocessors, &clock_mhz) == kSuccess) Write(ordinal, "sm_clock_mhz", clock_mhz);
    unsigned long long reasons = 0;
    if (nvml.reasons(device, &reasons) == kSuccess) Write(ordinal, "slowed", (reasons & kSlowed) != 0 ? 1 : 0);
  }
}

}  // namespace loopscope
