// Observes every op of every thread, through at::RecordFunction.
#pragma once

#include "probes/preload/probe_api.h"

namespace loopscope {

// Once and for good; whether ops are recorded is up to ProbeApi::gate.
void RecordOps();

// Switches on the expensive parts, only where they are used: ops' inputs in the detail window and, for hashes of
// shapes, in one step of several; what autograd's nodes call ("ConvolutionBackward0") in the detail window. To be
// called between ops.
void ChooseCallbacks(Moment moment);

}  // namespace loopscope
