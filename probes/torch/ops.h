// Every op of every thread, through at::RecordFunction.
#pragma once

namespace loopscope {

// Registers the callbacks, once and for good; whether they record is up to ProbeApi::gate.
void RecordOps();

}  // namespace loopscope
