// LibTorch's functions that every op passes through, and the targets of their calls. See CallTable.
#pragma once

#include <atomic>
#include <cstdint>

#include "probes/calls/call_table.h"

namespace loopscope {

const OpCalls* RealOpCalls() noexcept;
void SetOpCalls(const OpCalls& calls, const std::atomic<std::uint32_t>& gate) noexcept;

}  // namespace loopscope
