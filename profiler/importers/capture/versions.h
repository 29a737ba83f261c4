// Fills in what captures of older minor versions lack, as far as it can be inferred from the rest of them.
#pragma once

#include "probes/wire.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// Call once the threads and marks of the file are in `trace`.
void FillInOlder(const wire::FileHeader& header, Trace& trace);

}  // namespace loopscope
