// What tells a Kineto trace from other texts, and what it says about its run: the machine, the rank, the clock, and
// where training steps end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// Whether a text may be a trace of PyTorch's profiler, by its first bytes.

// False when the text so far rules it out: not JSON, an object that ends without "traceEvents", an array of anything
// but events. True when `head`, plain text, ends before that can be decided.
bool MayBeKineto(std::string_view head);

// Metadata, beside "traceEvents".
using KinetoMembers = std::vector<std::pair<std::string, std::string>>;  // key, raw JSON

// The offset to add to every time, in ns since 1970; 0 where the times already include it.
std::int64_t KinetoBaseNs(const KinetoMembers& members);

// Fills trace.run (ranks, GPUs, versions, when it started), names the devices, and notes as facts what was recorded.
// Malformed members are skipped.
void AddKinetoMetadata(const KinetoMembers& members, Trace& trace);

// Adds kStepEnd marks: from "ProfilerStep#N" and other ranges that count steps, else from the optimizer that takes most
// time. A first or last range that holds less than half of what the others hold is a step cut off: it is left out, with
// a note in quality.warnings. With neither, nothing is added; Timeline then looks at the backward passes.
void AddKinetoSteps(Trace& trace);

}  // namespace loopscope
