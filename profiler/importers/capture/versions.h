// What captures of older minor versions do not say, as far as the rest of them tells it.
#pragma once

#include "probes/wire.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// Once the threads and marks of the file are in `trace`.
void FillInOlder(const wire::FileHeader& header, Trace& trace);

}  // namespace loopscope
