// The learning-rate finder: a run of rising rates before training (Smith, arXiv 1506.01186).
#pragma once

#include <vector>

namespace loopscope::train {

inline constexpr int kFindSteps = 60;

// The rate for step `step` of the search, from `lr` / 100 to `lr` x 100.
double RateOfSearch(double lr, int step);

// The rate to train with: a tenth of the one with the lowest smoothed loss, `lr` where the losses show nothing.
// losses[i] is that of step i; the search may have ended early.
double RateFound(double lr, const std::vector<double>& losses);

}  // namespace loopscope::train
