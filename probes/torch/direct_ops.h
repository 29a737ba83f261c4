// A shorter way to every op than a callback of at::RecordFunction: LibTorch's own calls of the functions that an op
// passes through come to the preloaded library first (preload/op_calls.h), and from there to here. Where no one else
// listens, an op is handed a RecordFunction without callbacks: recording it costs less than a callback that does
// nothing. Where someone does (torch.profiler, inputs that were asked for), the probe's callback joins theirs.
#pragma once

namespace loopscope {

// Returns false where LibTorch binds these calls itself (linked so, or the library was not preloaded): then a callback
// must be registered.
bool RecordOpsDirectly();

}  // namespace loopscope
