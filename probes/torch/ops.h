// Every op of every thread, through at::RecordFunction.
#pragma once

#include "probes/preload/probe_api.h"

namespace loopscope {

// Registers the callbacks, once and for good; whether they record is up to ProbeApi::gate.
void RecordOps();

// Switches on what costs much, where it is looked at: ops' inputs in the detail window and, for hashes of shapes, in
// one step of several; what autograd's nodes call ("ConvolutionBackward0") in the detail window. To be called between
// ops.
void ChooseCallbacks(Moment moment);

}  // namespace loopscope
