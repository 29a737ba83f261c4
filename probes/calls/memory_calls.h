// Who is told about the memory of tensors on the CPU. See CallTable.
#pragma once

#include "probes/calls/call_table.h"

namespace loopscope {

void ObserveMemory(const MemoryObserver* observer) noexcept;

}  // namespace loopscope
