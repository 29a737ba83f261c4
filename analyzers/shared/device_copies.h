// Copies from the host to a device in the steady steps, and what each cost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// Larger than what CUDA passes through a buffer of its own without waiting (64 KiB, CUDA C++ Programming Guide, "API
// synchronization behavior"): a batch, not the argument of an operator.
inline constexpr std::uint64_t kBatchBytes = 64 * 1024;

struct CopyToDevice {
  const DeviceEvent* event = nullptr;
  EventRef call;
  bool waited_for = false;  // the host synchronised right after it
  double exposed_ms = 0;    // of the copy, without compute or communication beside it
  double idle_ms = 0;       // the device was idle because of it, up to the next copy to the device
  std::optional<Where> where;
};

// Copies of kBatchBytes or more whose call is in the trace, by the time of the call.
std::vector<CopyToDevice> BatchCopies(const Timeline& timeline);

}  // namespace loopscope
