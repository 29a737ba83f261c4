// Joins the captures of a run's processes into one trace.
#pragma once

#include "profiler/core/trace/trace.h"

namespace loopscope {

// Adds what another process of the run recorded: its threads, devices, marks and strings. `into` keeps its quality.
void JoinCapture(Trace from, Trace& into);

}  // namespace loopscope
