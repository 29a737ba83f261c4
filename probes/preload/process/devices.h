// The program's GPUs, as far as the preloaded library deals with them: through the driver that the program has loaded,
// if it has. Nothing here loads CUDA or makes a context.
#pragma once

#include "probes/preload/probe_api.h"

namespace loopscope {

void SetDeviceHooks(const DeviceHooks* hooks) noexcept;
// Makes the device probe write what it still holds. To be called before the capture is closed.
void FinishDevices() noexcept;
bool DevicesFollowed() noexcept;  // device work is recorded

// The driver brings the device probe along when it starts. Where that was before the capture, the probe begins now;
// else nothing happens.
void AttachDeviceProbe() noexcept;
// `client` is about to register with CUPTI, which serves one: the device probe records no more. Waits for seconds at
// most. A device probe that comes later does not begin.
void LeaveCuptiTo(const char* client) noexcept;

// Waits until every GPU that this process uses has done what was launched on it.
void SynchroniseDevices() noexcept;

}  // namespace loopscope
