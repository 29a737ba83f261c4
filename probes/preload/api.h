// What this library offers to the other injected libraries.
#pragma once

#include "probes/preload/probe_api.h"

namespace loopscope::loop {

const ProbeApi* Api() noexcept;  // null while no capture is open in this process

}  // namespace loopscope::loop
