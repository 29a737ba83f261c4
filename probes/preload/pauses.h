// A C++ program's activity outside of operators, as shown by its calls of the C library.
#pragma once

namespace loopscope {

// From now on records opened files and waits for locks, with their stacks. Does nothing if an interpreter runs the
// program.
void RecordCalls() noexcept;

}  // namespace loopscope
