// The observer of opened files and of waits for locks. See CallTable.
#pragma once

#include "probes/calls/call_table.h"

namespace loopscope {

void ObserveCalls(const CallObserver* observer) noexcept;

}  // namespace loopscope
