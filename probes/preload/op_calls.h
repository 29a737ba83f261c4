// The functions of LibTorch that every op passes through, which come here first: forwarded to LibTorch's own until the
// LibTorch probe puts its own in their place. By mangled name and without a torch header, as in interpose.cpp.
#pragma once

#include "probes/preload/probe_api.h"

namespace loopscope {

// LibTorch's own functions; members are null where it has none of that name.
const OpCalls* RealOpCalls() noexcept;
// From now on calls go to these.
void SetOpCalls(const OpCalls& calls) noexcept;

}  // namespace loopscope
