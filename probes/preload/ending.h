// The end of a bounded run: on the training thread, at a step boundary, without unwinding the program.
#pragma once

#include "probes/preload/settings.h"

namespace loopscope {

// From now on the process ends within half a minute: flushing may wait forever for a stream that another thread holds,
// or for a reader.
void StartWatchdog(const Settings& settings) noexcept;

// Waits for the other ranks and the device, flushes the program's streams, ends its child processes, closes the capture
// as complete and exits with status 0.
[[noreturn]] void EndProgram(const Settings& settings) noexcept;

}  // namespace loopscope
