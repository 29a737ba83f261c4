// Collectives in flight, from the moment NCCL accepts one to the moment its last channel has ended on the device.
// Fixed memory, no lock that NCCL's threads would wait for.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "probes/nccl/profiler_abi.h"
#include "probes/preload/probe_api.h"

namespace loopscope::nccl {

inline constexpr std::size_t kInFlight = 1024;  // a later one replaces one that never ended

inline constexpr std::size_t kMostNameBytes = 48;
struct Communicator {
  char name[kMostNameBytes] = "";  // ends with a 0, holds no colon
};

class Collectives {
 public:
  explicit Collectives(const ProbeApi& api) noexcept : api_(api) {}

  // Returns the event's handle, or null for one that is not followed. `start` of a channel is the device's timer.
  void* StartCollective(const CollectiveEvent& event, const Communicator* communicator = nullptr) noexcept;
  void* StartChannel(void* collective, std::uint64_t timer_ns) noexcept;
  void EndChannel(void* channel, std::uint64_t timer_ns) noexcept;
  bool IsChannel(const void* handle) const noexcept;

  std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }  // never seen to end

 private:
  static constexpr std::size_t kChannels = 64;  // MAXCHANNELS of NCCL

  struct Flight;
  struct Channel {
    Flight* flight = nullptr;
  };
  struct Flight {
    std::atomic<std::uint32_t> name{0};  // string id; 0 free
    std::atomic<std::uint32_t> open{0};  // channels that have not ended
    std::uint64_t sequence = 0, seen_ns = 0;
    std::atomic<std::uint64_t> first_ns{UINT64_MAX}, last_ns{0};  // by the device's timer
    std::array<Channel, kChannels> channels{};
    std::atomic<std::uint32_t> next_channel{0};
  };

  void Write(Flight& flight) noexcept;

  const ProbeApi& api_;
  std::array<Flight, kInFlight> flights_{};
  std::atomic<std::uint64_t> next_{0}, lost_{0};
};

}  // namespace loopscope::nccl
