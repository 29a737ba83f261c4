// What a device did, as importers report it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loopscope {

using StringId = std::uint32_t;  // index into Trace::strings; 0 is ""

inline constexpr std::uint32_t kNone = 0xffffffffu;

// The kind of device activity. A collective's kernel is kCommunication, not kKernel; a wait is not device work.
enum class DeviceKind : std::uint8_t { kKernel, kCommunication, kCopy, kMemset, kGraph, kWait };
enum class CopyKind : std::uint8_t { kNotACopy, kHostToDevice, kDeviceToHost, kDeviceToDevice, kHostToHost, kPeer };
enum DeviceFlag : std::uint8_t {
  kDevicePageable = 1,  // copies: the host side is pageable memory
  kDevicePinned = 2,    // copies: the host side is pinned; neither bit: unknown
  kDeviceAsync = 4,     // copies: the call did not have to wait
};

// One activity of one device. Times are on the hosts' clock, ns, start_ns <= end_ns.
struct DeviceEvent {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint64_t bytes = 0;  // copies, memsets, collectives' message; 0 unknown
  StringId name = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;  // of the runtime or driver call that launched it; 0 unknown
  std::uint32_t group = kNone;    // collectives: index into Trace::collectives
  DeviceKind kind = DeviceKind::kKernel;
  CopyKind copy = CopyKind::kNotACopy;
  std::uint8_t flags = 0;  // DeviceFlag

  std::int64_t duration_ns() const { return end_ns - start_ns; }
};

struct Device {
  std::string name;                 // "NVIDIA A100-SXM4-40GB"; empty unknown
  std::uint32_t ordinal = 0;        // its number in the process
  std::vector<DeviceEvent> events;  // by start
};

// What is known about a collective besides its kernel.
struct Collective {
  StringId operation = 0;      // "allreduce"
  StringId group = 0;          // name of the process group
  StringId purpose = 0;        // the group's purpose: "default_pg", "mesh_tp"; 0 unknown
  int ranks = 0;               // in the group; 0 unknown
  std::uint64_t sequence = 0;  // of the collective in its group; 0 unknown
};

// A collective that a rank entered, as a flight recorder kept it: shows which rank is missing when a run hangs. Times
// are ns since 1970; 0 unknown.
struct EnteredCollective {
  StringId operation = 0, group = 0, purpose = 0;  // as in Collective
  std::uint64_t sequence = 0;                      // in its group, counted apart between two ranks
  std::int64_t entered_ns = 0, ended_ns = 0;
  std::int64_t length_ns = 0;  // on the device
  std::uint64_t bytes = 0;
  std::uint32_t stack = kNone;  // index into Trace::stacks
  bool ended = false;
  bool between_two = false;  // a send or a receive
};

}  // namespace loopscope
