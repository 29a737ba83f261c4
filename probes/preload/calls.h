// The functions that go through libloopscope_calls.so (probes/calls/call_table.h), where that was preloaded too.
#pragma once

#include "probes/calls/call_table.h"

namespace loopscope {

// One that does nothing, and knows none of LibTorch's functions, where it was not.
const CallTable& Calls() noexcept;

}  // namespace loopscope
