// Tensors in the host's memory that a probe followed one by one: which were there when nothing used them any more.
#pragma once

#include <cstdint>

#include "profiler/core/trace/device_event.h"

namespace loopscope {

// When all tensors in the host's memory held the most in a step of the first detail window.
struct TensorPeak {
  std::int64_t time_ns = 0;
  std::uint64_t bytes = 0;
};

// A tensor in the host's memory that was there at one of those peaks although no op used it any more.
struct IdleTensor {
  std::uint64_t bytes = 0;
  std::int64_t allocated_ns = 0, used_ns = 0;  // used_ns: when the last op began that used it
  std::int64_t freed_ns = 0;                   // 0: not before the window closed
  std::uint32_t thread = kNone;                // index into Trace::threads of who allocated it; kNone unknown
};

}  // namespace loopscope
