// The ops in which autograd's engine runs the graph's nodes: "autograd::engine::evaluate_function: AddmmBackward0".
// With a listener the engine builds that text for every node, which costs more than the rest of recording it; here it
// is cached by node type.
#pragma once

#include "probes/torch/open_ops.h"

namespace loopscope {

// The node that the engine runs on this thread, while the op in which it does is yet to begin; else null. The engine
// begins that op first of all that it records of a node.
const void* NodeThatBegins(const OpenOps& open);

// The name of that op. Null if the op itself must be asked: in the detail window, and if the type's nodes have
// different names (Python functions).
const Known* NameOfNode(OpenOps& open);

}  // namespace loopscope
