// Who is told that files are opened, and that locks were waited for. See CallTable.
#pragma once

#include "probes/calls/call_table.h"

namespace loopscope {

void ObserveCalls(const CallObserver* observer) noexcept;

}  // namespace loopscope
