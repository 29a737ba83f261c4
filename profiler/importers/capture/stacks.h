// The call stacks of a capture, with the names of their frames.
#pragma once

#include <cstdint>

#include "profiler/core/trace/trace.h"
#include "profiler/importers/capture/definitions.h"

namespace loopscope {

// Appends a stack for each that was defined, by its id; native addresses are named from the modules' debug information.
void AddStacks(const CaptureDefinitions& all, Trace& trace);

// Names the library's function in which each sampled line of the trace's threads spent its time, as a C++ name.
void NameCalledFunctions(const CaptureDefinitions& all, Trace& trace);

// Warns about files that were rebuilt since the run: their addresses now belong to other lines.
void WarnOfNewerModules(const CaptureDefinitions& all, std::uint64_t run_real_ns, Trace& trace);

}  // namespace loopscope
