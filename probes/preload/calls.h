// The functions that go through libloopscope_calls.so (probes/calls/call_table.h), where that was preloaded too.
#pragma once

#include "probes/calls/call_table.h"

namespace loopscope {

// If it was not: a table that does nothing and has none of LibTorch's functions.
const CallTable& Calls() noexcept;

}  // namespace loopscope
