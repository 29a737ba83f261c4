// The kinds of records requested from CUPTI.
#pragma once

#include "probes/cupti/calls.h"
#include "probes/cupti/cupti_library.h"

namespace loopscope {

// Turns them on; after an error none is on. If calls cannot be enabled one by one, all are recorded.
CUptiResult EnableKinds(const Cupti& cupti, Calls wanted) noexcept;

void DisableKinds(const Cupti& cupti) noexcept;

}  // namespace loopscope
