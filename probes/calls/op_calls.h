// LibTorch's functions that every op passes through, and where calls of them go. See CallTable.
#pragma once

#include "probes/calls/call_table.h"

namespace loopscope {

const OpCalls* RealOpCalls() noexcept;
void SetOpCalls(const OpCalls& calls) noexcept;

}  // namespace loopscope
