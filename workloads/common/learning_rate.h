// The learning rate: over time, as a pure function of the step, and the search for it before training.
#pragma once

#include <vector>

#include "workloads/common/settings.h"

namespace loopscope::train {

// The rate of optimizer step `step` (from 0) when an epoch has `steps_per_epoch` of them. Sources: one-cycle and cyclic
// rates after L. Smith (arXiv 1506.01186, 1708.07120); linear scaling with the batch after Goyal et al. (1706.02677).
double LearningRate(const CommonSettings& settings, long step, long steps_per_epoch);

// The learning-rate finder: a run of rising rates before training (Smith, arXiv 1506.01186).
inline constexpr int kFindSteps = 60;

// The rate for step `step` of the search, from `lr` / 100 to `lr` x 100.
double RateOfSearch(double lr, int step);

// The rate to train with: a tenth of the one with the lowest smoothed loss, `lr` where the losses show nothing.
// losses[i] is that of step i; the search may have ended early.
double RateFound(double lr, const std::vector<double>& losses);

}  // namespace loopscope::train
