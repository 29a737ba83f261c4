// Observes ops more cheaply than a callback of at::RecordFunction: LibTorch's own calls of the functions that an op
// passes through go to the preloaded library first (calls/op_calls.h), and from there to here. If nothing else listens,
// an op gets a RecordFunction without callbacks: recording it costs less than an empty callback. Otherwise
// (torch.profiler, requested inputs) the probe's callback is added to the others.
#pragma once

namespace loopscope {

// Returns false if these calls cannot be interposed (by linking, or the library was not preloaded): then a callback
// must be registered.
bool RecordOpsDirectly();

}  // namespace loopscope
