// How busy, how full and how fast the GPUs are, from NVML, about once a second. NVML comes with the driver and is
// looked up at run time; without it nothing is sampled.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "probes/preload/probe_api.h"

namespace loopscope {

inline constexpr std::uint32_t kMostSampledDevices = 64;

// A device's identity, as CUPTI and NVML both give it.
struct DeviceUuid {
  std::array<std::uint8_t, 16> bytes{};
};

// "GPU-01234567-89ab-cdef-0123-456789abcdef": the text by which NVML finds a device.
using UuidText = std::array<char, 48>;
UuidText TextOf(const DeviceUuid& uuid) noexcept;

class UtilizationSampler {
 public:
  explicit UtilizationSampler(const ProbeApi& api) noexcept : api_(api) {}

  // The process's device `ordinal` has that UUID. May be called from any thread, before or while another samples.
  void Know(std::uint32_t ordinal, const DeviceUuid& uuid) noexcept;

  // Writes a mark kDeviceSample for each reading of each known device: "cuda:0 utilization_pct", "… memory_used_bytes"
  // (by all processes), "… sm_clock_mhz", "… slowed" (1 while power, heat or the board hold the clock down). One
  // caller.
  void Sample() noexcept;

 private:
  struct Known {
    std::atomic<bool> ready{false};  // the UUID is set
    DeviceUuid uuid;
    void* handle = nullptr;  // NVML's
    bool asked = false;
  };

  void* HandleOf(Known& known) noexcept;
  void Write(std::uint32_t ordinal, const char* what, double value) noexcept;

  const ProbeApi& api_;
  std::array<Known, kMostSampledDevices> known_{};
};

}  // namespace loopscope
