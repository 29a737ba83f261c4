// Functions that a program calls very often, routed through libloopscope_calls.so where that is preloaded: in traced
// runs; timed trials start without it, so their calls take no detour. They are forwarded to the program's own functions
// until the preloaded library, which finds this one by its table, installs observers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "probes/preload/probe_api.h"

namespace loopscope {

// Called in the middle of the program's own work: they return quickly and never throw.
struct MemoryObserver {
  // Memory of a tensor on the CPU, null if there was none, and its size in malloc; 0 if it is not malloc's.
  void (*allocated)(const void* data, std::size_t bytes, std::size_t held_bytes);
  void (*frees)(const void* data, std::size_t held_bytes);  // before it is freed
};
struct WaitObserver {
  std::uint64_t (*now_ns)();
  void (*waited)(std::uint64_t begin_ns, std::uint64_t end_ns);  // for a std::condition_variable, some time
};

struct CallObserver {
  std::uint64_t (*now_ns)();
  // A call of the C library that shows where the program is: a file was opened, or a lock waited for.
  void (*called)(const char* name, std::uint64_t begin_ns, std::uint64_t end_ns);
};

struct CallTable {
  const OpCalls* (*real_op_calls)();  // LibTorch's own; members are null where it has none of that name
  // From now on. While the gate, which is kept, lacks kGateOps, LibTorch's own callbacks_unless_empty is called. Calls
  // that make bare RecordFunctions stay for good: only they can take them apart.
  void (*set_op_calls)(const OpCalls& calls, const std::atomic<std::uint32_t>& gate);
  void (*observe_memory)(const MemoryObserver* observer);  // from now on; null: nobody. Kept, not copied
  void (*observe_waits)(const WaitObserver* observer);     // likewise
  void (*observe_calls)(const CallObserver* observer);     // likewise
};

}  // namespace loopscope

extern "C" const loopscope::CallTable* loopscope_calls_v1();
