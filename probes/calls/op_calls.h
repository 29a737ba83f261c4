// LibTorch's functions that every op passes through, and the targets of their calls. See CallTable.
#pragma once

#include "probes/calls/call_table.h"

namespace loopscope {

const OpCalls* RealOpCalls() noexcept;
void SetOpCalls(const OpCalls& calls) noexcept;

}  // namespace loopscope
