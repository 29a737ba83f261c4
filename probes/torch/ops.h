// Records ops: called at the begin and end of each.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>
#include <c10/core/DispatchKeySet.h>

#include <memory>

namespace loopscope {

struct Known;

// The callbacks of at::RecordFunction.
std::unique_ptr<at::ObserverContext> OnStart(const at::RecordFunction& function);
[[gnu::hot]] void OnEnd(const at::RecordFunction& function, at::ObserverContext*);

// In place of OnStart, for an op that has no listeners: `function` holds nothing, its address tells when the op ends by
// OnEnd. To be called while ops are recorded.
[[gnu::hot]] void BeginDirectly(const at::RecordFunction& function, const c10::FunctionSchema& schema,
                                c10::DispatchKeySet keys);

// The same for the op in which autograd's engine runs `node` (engine_nodes.h).
void BeginNode(const at::RecordFunction& function, const Known& name, const void* node);

}  // namespace loopscope
