// A shorter way to every op than a callback of at::RecordFunction: LibTorch's own calls of the functions that an op
// passes through come to the preloaded library first (calls/op_calls.h), and from there to here. Where nothing else
// listens, an op is handed a RecordFunction that holds nothing: recording it costs less than a callback that does
// nothing. Where something does (torch.profiler, requested inputs), the probe's callback is added to theirs.
#pragma once

namespace loopscope {

// Returns false if these calls cannot be interposed (by linking, or the library was not preloaded): then a callback
// must be registered.
bool RecordOpsDirectly();

}  // namespace loopscope
