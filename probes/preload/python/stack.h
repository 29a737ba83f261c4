// Call stacks of Python code, as text frames "path:line:function" (probes/wire.h). CPython's functions are looked up
// in the process when it starts, so that no Python header and no version of it is needed.
#pragma once

#include <cstdint>

namespace loopscope {

// From now on stacks are Python's. No effect if the process's Python lacks a needed function; a kProbeOff mark then
// records it.
void UsePythonStacks() noexcept;

// Id of the calling thread's Python stack, innermost first: the user's frames, and before them those of installed
// packages that the innermost of them called. 0 on threads that run no Python, and where it could not be taken.
std::uint32_t PythonStackId() noexcept;

}  // namespace loopscope
