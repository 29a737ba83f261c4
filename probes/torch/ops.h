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
void OnEnd(const at::RecordFunction& function, at::ObserverContext*);

// Instead of OnStart, for an op whose `function` has only its dispatch data and runs no callbacks.
// Returns whether the op is recorded; OnEnd then ends it.
bool BeginDirectly(at::RecordFunction& function, const c10::FunctionSchema& schema, c10::DispatchKeySet keys);

// The same for the op in which autograd's engine runs `node` (engine_nodes.h).
void BeginNode(const at::RecordFunction& function, const Known& name, const void* node);

}  // namespace loopscope
