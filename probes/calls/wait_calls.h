// The observer of waits on condition variables. See CallTable.
#pragma once

#include "probes/calls/call_table.h"

namespace loopscope {

void ObserveWaits(const WaitObserver* observer) noexcept;

}  // namespace loopscope
