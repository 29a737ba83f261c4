// Threads and processes beside the training that write files: a checkpoint must not be cut off by a bounded run's end.
#pragma once

namespace loopscope {

// Until other threads and child processes have written nothing for a moment, and for at most ten seconds; at once where
// none holds a file to write to. Of a Python program's the shim takes care: its threads need the interpreter meanwhile.
void WaitForWriters() noexcept;

}  // namespace loopscope
