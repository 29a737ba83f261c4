// The observer of tensor memory on the CPU. See CallTable.
#pragma once

#include "probes/calls/call_table.h"

namespace loopscope {

void ObserveMemory(const MemoryObserver* observer) noexcept;

}  // namespace loopscope
