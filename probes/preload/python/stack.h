// Call stacks of Python code, as text frames "path:line:function" (probes/wire.h). CPython's functions are looked up
// in the process when it starts, so that no Python header and no version of it is needed.
#pragma once

#include <cstdint>
#include <string_view>

namespace loopscope {

// From now on stacks are Python's. Without effect where the process's Python lacks a function that is needed; then a
// kProbeOff mark says so.
void UsePythonStacks() noexcept;

// Folders, one a line, whose code is not the user's.
void SetForeignCode(std::string_view folders) noexcept;

// Id of the calling thread's Python stack, the user's frames only, innermost first; frames of installed packages where
// there are none of the user's. 0 on threads that run no Python, and where it could not be taken.
std::uint32_t PythonStackId() noexcept;

}  // namespace loopscope
