// Records ops: observes every op of every thread, and is called at the begin and end of each.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>
#include <c10/core/DispatchKeySet.h>

#include <memory>

#include "probes/preload/probe_api.h"

namespace loopscope {

struct Known;

// The callbacks of at::RecordFunction.
std::unique_ptr<at::ObserverContext> OnStart(const at::RecordFunction& function);
[[gnu::hot]] void OnEnd(const at::RecordFunction& function, at::ObserverContext*);

// In place of OnStart, for an op that has no listeners: `function` holds nothing, its address tells when the op ends by
// OnEnd. To be called while ops are recorded.
[[gnu::hot]] void BeginDirectly(const at::RecordFunction& function, const c10::FunctionSchema& schema,
                                c10::DispatchKeySet keys);

// The same for the op in which autograd's engine runs `node` (op_names.h).
void BeginNode(const at::RecordFunction& function, const Known& name, const void* node);

// Through at::RecordFunction, once and for good; whether ops are recorded is up to ProbeApi::gate.
void RecordOps();

// Switches on the expensive parts, only where they are used: ops' inputs in the detail window and, for hashes of
// shapes, in one step of several; what autograd's nodes call ("ConvolutionBackward0") in the detail window. To be
// called between ops.
void ChooseCallbacks(Moment moment);

// A shorter way to every op than a callback of at::RecordFunction: LibTorch's own calls of the functions that an op
// passes through come to the preloaded library first (calls/interposed.h), and from there to here. Where nothing else
// listens, an op is handed a RecordFunction that holds nothing: recording it costs less than a callback that does
// nothing. Where something does (torch.profiler, requested inputs), the probe's callback is added to theirs.

// Returns false if these calls cannot be interposed (by linking, or the library was not preloaded): then a callback
// must be registered.
bool RecordOpsDirectly();

}  // namespace loopscope
