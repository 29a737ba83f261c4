// Tensors that the probe followed one by one, from the records of a capture.
#pragma once

#include <cstdint>

#include "profiler/core/trace/trace.h"
#include "profiler/importers/capture/definitions.h"

namespace loopscope {

// Adds the peaks and the tensors to `trace`, whose threads must be there. Returns how many records had impossible times
// and were left out.
std::uint64_t AddTensors(const CaptureDefinitions& all, Trace& trace);

}  // namespace loopscope
