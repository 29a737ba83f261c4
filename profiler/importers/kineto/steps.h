// Where the training steps of a Kineto trace end, as marks.
#pragma once

#include "profiler/core/trace/trace.h"

namespace loopscope {

// Adds kStepEnd marks: from "ProfilerStep#N" and other ranges that count steps, else from the optimizer that takes most
// time. A first or last range that holds less than half of what the others hold is a step cut off: it is left out, with
// a note in quality.warnings. With neither, nothing is added; Timeline then looks at the backward passes.
void AddKinetoSteps(Trace& trace);

}  // namespace loopscope
