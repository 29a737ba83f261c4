// Tensors that the probe tracked one by one, from the records of a capture.
#pragma once

#include <cstdint>

#include "profiler/core/trace/trace.h"
#include "profiler/importers/capture/definitions.h"

namespace loopscope {

// Adds the peaks and the tensors to `trace`, which must already have its threads. Returns how many records had
// impossible times and were left out.
std::uint64_t AddTensors(const CaptureDefinitions& all, Trace& trace);

}  // namespace loopscope
