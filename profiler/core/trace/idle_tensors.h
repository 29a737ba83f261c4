// Tensors in host memory that a probe tracked one by one: those still allocated after their last use.
#pragma once

#include <cstdint>

#include "profiler/core/trace/device_event.h"

namespace loopscope {

// When all tensors in host memory held the most in a step of the first detail window.
struct TensorPeak {
  std::int64_t time_ns = 0;
  std::uint64_t bytes = 0;
};

// A tensor in host memory that was still allocated at one of those peaks although no op used it any more.
struct IdleTensor {
  std::uint64_t bytes = 0;
  std::int64_t allocated_ns = 0, used_ns = 0;  // used_ns: start of the last op that used it
  std::int64_t freed_ns = 0;                   // 0: not before the window closed
  std::uint32_t thread = kNone;                // index into Trace::threads of who allocated it; kNone unknown
};

}  // namespace loopscope
