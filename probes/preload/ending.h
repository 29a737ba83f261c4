// The end of a bounded run: on the training thread, at a step boundary, without unwinding the program.
#pragma once

#include "probes/preload/probe_api.h"
#include "probes/preload/settings.h"

namespace loopscope {

void SetDeviceHooks(const DeviceHooks* hooks) noexcept;
// Has the devices' probe write what it still holds; before the capture is closed.
void FinishDevices() noexcept;
bool DevicesFollowed() noexcept;  // what devices do is recorded

// Waits for the other ranks and the device, flushes the program's streams, ends its child processes, closes the
// capture as ended in order and leaves with status 0. Does not return.
[[noreturn]] void EndProgram(const Settings& settings) noexcept;

}  // namespace loopscope
