// What a C++ program does outside of its operators, as far as calls of the C library show it.
#pragma once

namespace loopscope {

// From now on the files that it opens and the locks that it waits for are recorded, each with its stack. Nothing where
// an interpreter runs the program.
void RecordCalls() noexcept;

}  // namespace loopscope
