// The functions of this library that stand in for the program's, and what observes them. See CallTable.
#pragma once

#include <atomic>
#include <cstdint>

#include "probes/calls/call_table.h"

namespace loopscope {

// LibTorch's functions that every op passes through, and the targets of their calls.
const OpCalls* RealOpCalls() noexcept;
void SetOpCalls(const OpCalls& calls, const std::atomic<std::uint32_t>& gate) noexcept;

// Tensor memory on the CPU.
void ObserveMemory(const MemoryObserver* observer) noexcept;

// Opened files, and waits for locks.
void ObserveCalls(const CallObserver* observer) noexcept;

// Waits on condition variables.
void ObserveWaits(const WaitObserver* observer) noexcept;

}  // namespace loopscope
