// What the files of libloopscope_calls.so offer to its table.
#pragma once

#include "probes/calls/call_table.h"

#define LOOPSCOPE_EXPORT __attribute__((visibility("default")))

namespace loopscope {

const OpCalls* RealOpCalls() noexcept;
void SetOpCalls(const OpCalls& calls) noexcept;
void ObserveMemory(const MemoryObserver* observer) noexcept;
void ObserveWaits(const WaitObserver* observer) noexcept;

}  // namespace loopscope
