// The knobs of train_text: those that every program has, and its own.
#pragma once

#include "workloads/common/knobs/knobs.h"
#include "workloads/train_text/settings.h"

namespace loopscope::train::text {

// The settings must outlive the knobs.
Knobs KnobsOf(Settings& settings);

}  // namespace loopscope::train::text
