// The preloaded library's access to the program's GPUs, through the driver if the program has loaded it. Nothing here
// loads CUDA or makes a context.
#pragma once

#include "probes/preload/probe_api.h"

namespace loopscope {

void SetDeviceHooks(const DeviceHooks* hooks) noexcept;
// Makes the device probe write what it still holds. To be called before the capture is closed.
void FinishDevices() noexcept;
bool DevicesFollowed() noexcept;  // device work is recorded

// The driver loads the device probe when it starts. If that was before the capture, the probe begins now; else nothing
// happens.
void AttachDeviceProbe() noexcept;
// `client` is about to register with CUPTI, which serves only one: the device probe stops recording. Waits for seconds
// at most. A device probe that comes later does not begin.
void LeaveCuptiTo(const char* client) noexcept;

// Waits until every GPU that this process uses has done what was launched on it.
void SynchroniseDevices() noexcept;

}  // namespace loopscope
