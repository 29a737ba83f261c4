// Every op of every thread, through at::RecordFunction.
#pragma once

namespace loopscope {

// Registers the callbacks, once and for good; whether they record is up to ProbeApi::gate.
void RecordOps();

// Has ops bring their inputs along, which costs some 30 ns each, where they are looked at: in the detail window, and
// in programs with ops whose shapes are hashed. To be called between ops, now and then.
void AskForInputs();

}  // namespace loopscope
