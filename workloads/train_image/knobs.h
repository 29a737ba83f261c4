// The knobs of train_image: those that every program has, and its own.
#pragma once

#include "workloads/common/knobs/knobs.h"
#include "workloads/train_image/settings.h"

namespace loopscope::train::image {

// The settings must outlive the knobs.
Knobs KnobsOf(Settings& settings);

}  // namespace loopscope::train::image
