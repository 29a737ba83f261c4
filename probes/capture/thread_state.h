// What a thread reads and writes for every record: its clock and its place in the capture.
#pragma once

#include <cstddef>

#include "probes/capture/thread_clock.h"
#include "probes/capture/write_span.h"

namespace loopscope::capture {

// The last half line of the clock and the first of the span share a cache line: an op's record looks at both.
struct alignas(64) ThreadState {
  std::byte before[64 + 32 - sizeof(ThreadClock)]{};
  ThreadClock clock;
  WriteSpan span;
};
static_assert(offsetof(ThreadState, span) == 64 + 32);

}  // namespace loopscope::capture
