// Processes and threads beside the training: those that this process has started, and those that write files.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>

namespace loopscope {

using ChildList = std::array<pid_t, 256>;

// Direct children that have not been waited for; how many.
std::size_t ListChildren(ChildList& into) noexcept;

// A checkpoint must not be cut off by a bounded run's end. Waits until other threads and child processes have written
// nothing for a moment, at most ten seconds; not at all if none has a file open for writing. The shim does this for
// Python, whose threads need the interpreter.
void WaitForWriters() noexcept;

}  // namespace loopscope
