// NCCL's interface for profiler plugins, versions 4 and 5 (NCCL 2.27 and 2.28): the layout of its structures, copied
// here because no package contains its header. Source: NVIDIA NCCL,
// src/include/plugin.
#pragma once

#include <cstddef>
#include <cstdint>

namespace loopscope::nccl {

enum EventType : std::uint64_t { kGroup = 1, kCollective = 2, kPointToPoint = 4, kKernelChannel = 64 };
enum class EventState : int { kKernelChannelStop = 22 };
enum class Result : int { kSuccess = 0 };

struct CollectiveEvent {
  std::uint64_t sequence;
  const char* function;  // "AllReduce"
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  const char* datatype;  // "ncclFloat32"
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
  void* parent_group;  // version 5
};

struct KernelChannelEvent {
  std::uint8_t channel;
  std::uint64_t timer_ns;  // the device's global timer when the channel began
};

// The union's largest member decides where nothing else lies: each is read by type only.
template <class Type>
struct EventDescription {
  Type type;
  void* parent;
  int rank;
  union {
    CollectiveEvent collective;
    KernelChannelEvent kernel_channel;
  };
};
using EventDescription4 = EventDescription<std::uint8_t>;
using EventDescription5 = EventDescription<std::uint64_t>;
static_assert(offsetof(EventDescription4, parent) == 8 && offsetof(EventDescription4, collective) == 24);
static_assert(offsetof(EventDescription5, parent) == 8 && offsetof(EventDescription5, collective) == 24);
static_assert(offsetof(CollectiveEvent, channels) == 56 && offsetof(CollectiveEvent, algorithm) == 64);

union EventStateArguments {
  std::uint64_t timer_ns;  // kKernelChannelStop: when the channel ended
};

using Log = void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);

struct Profiler4 {
  const char* name;
  Result (*init)(void** context, int* mask, const char* communicator, std::uint64_t hash, int nodes, int ranks,
                 int rank, Log log);
  Result (*start_event)(void* context, void** handle, EventDescription4* description);
  Result (*stop_event)(void* handle);
  Result (*record_event_state)(void* handle, EventState state, EventStateArguments* arguments);
  Result (*finalize)(void* context);
};

struct Profiler5 {
  const char* name;
  Result (*init)(void** context, std::uint64_t id, int* mask, const char* communicator, int nodes, int ranks, int rank,
                 Log log);
  Result (*start_event)(void* context, void** handle, EventDescription5* description);
  Result (*stop_event)(void* handle);
  Result (*record_event_state)(void* handle, EventState state, EventStateArguments* arguments);
  Result (*finalize)(void* context);
};

}  // namespace loopscope::nccl
