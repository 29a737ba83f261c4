// What a trace takes from captures beside threads and devices: call stacks, tensors, what older versions lack, the
// captures of other processes of the run.
#pragma once

#include <cstdint>

#include "probes/wire.h"
#include "profiler/core/trace/trace.h"
#include "profiler/importers/capture/definitions.h"

namespace loopscope {

// The call stacks of a capture, with the names of their frames.

// Appends a stack for each that was defined, by its id; native addresses are named from the modules' debug information.
void AddStacks(const CaptureDefinitions& all, Trace& trace);

// Names the library's function in which each sampled line of the trace's threads spent its time, as a C++ name.
void NameCalledFunctions(const CaptureDefinitions& all, Trace& trace);

// Warns about files that were rebuilt since the run: their addresses now belong to other lines.
void WarnOfNewerModules(const CaptureDefinitions& all, std::uint64_t run_real_ns, Trace& trace);

// Tensors that the probe tracked one by one, from the records of a capture.

// Adds the peaks and the tensors to `trace`, which must already have its threads. Returns how many records had
// impossible times and were left out.
std::uint64_t AddTensors(const CaptureDefinitions& all, Trace& trace);

// Fills in what captures of older minor versions lack, as far as it can be inferred from the rest of them.

// Call once the threads and marks of the file are in `trace`.
void FillInOlder(const wire::FileHeader& header, Trace& trace);

// Joins the captures of a run's processes into one trace.

// Adds what another process of the run recorded: its threads, devices, marks and strings. `into` keeps its quality.
void JoinCapture(Trace from, Trace& into);

}  // namespace loopscope
