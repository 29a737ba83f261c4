// The captures of a run's processes, joined to one trace.
#pragma once

#include "profiler/core/trace/trace.h"

namespace loopscope {

// Adds what another process of the run recorded: its threads, devices, marks and strings. The quality of `into` stands.
void JoinCapture(Trace from, Trace& into);

}  // namespace loopscope
