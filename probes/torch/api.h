// The preloaded library's offer, as the LibTorch probe holds it: set once, before anything else here runs.
#pragma once

#include "probes/preload/probe_api.h"

namespace loopscope {

extern const ProbeApi* api;

}  // namespace loopscope
