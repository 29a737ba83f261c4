// Threads and processes beside the training that write files: a checkpoint must not be cut off by a bounded run's end.
#pragma once

namespace loopscope {

// Waits until other threads and child processes have written nothing for a moment, at most ten seconds; not at all if
// none has a file open for writing. The shim does this for Python, whose threads need the interpreter.
void WaitForWriters() noexcept;

}  // namespace loopscope
