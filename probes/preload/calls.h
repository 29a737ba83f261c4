// The functions that go through libloopscope_calls.so (probes/calls/call_table.h), where that was preloaded too, and
// those of the C library by which a program shows what it does outside of operators.
#pragma once

#include "probes/calls/call_table.h"

namespace loopscope {

// If it was not: a table that does nothing and has none of LibTorch's functions.
const CallTable& Calls() noexcept;

// From now on records opened files and waits for locks, with their stacks. Does nothing if an interpreter runs the
// program.
void RecordCalls() noexcept;

}  // namespace loopscope
