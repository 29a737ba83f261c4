// The learning rate over time, as a pure function of the step.
#pragma once

#include "workloads/common/settings.h"

namespace loopscope::train {

// The rate of optimizer step `step` (from 0) when an epoch has `steps_per_epoch` of them. Sources: one-cycle and cyclic
// rates after L. Smith (arXiv 1506.01186, 1708.07120); linear scaling with the batch after Goyal et al. (1706.02677).
double LearningRate(const CommonSettings& settings, long step, long steps_per_epoch);

}  // namespace loopscope::train
