// What is known of an op by its name, and the names of the ops in which autograd's engine runs the graph's nodes.
#pragma once

#include <cstdint>
#include <string_view>

#include "probes/torch/open_ops.h"

namespace loopscope {

// What to record about an op beyond its time, by name.
enum NameTrait : std::uint8_t { kHashShapes = 1, kHostRead = 2, kMayBeAsync = 4 };

// The NameTraits of an op. Shapes are hashed for ops that multiply matrices: convolutions, products, attention,
// recurrent layers, and their backward ops.
std::uint8_t TraitsOf(std::string_view name);

// The ops in which autograd's engine runs the graph's nodes: "autograd::engine::evaluate_function: AddmmBackward0".
// With a listener the engine builds that text for every node, which costs more than the rest of recording it; here it
// is cached by node type.

// The node that the engine runs on this thread, while the op in which it does is yet to begin; else null. The engine
// begins that op first of all that it records of a node.
const void* NodeThatBegins(const OpenOps& open);

// The name of that op. Null if the op itself must be asked: in the detail window, and if the type's nodes have
// different names (Python functions).
const Known* NameOfNode(OpenOps& open);

}  // namespace loopscope
