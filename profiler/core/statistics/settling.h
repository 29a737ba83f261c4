// When a program's steps settle after its start.
#pragma once

#include <span>

namespace loopscope {

// How many of the first steps to leave out, from the length of each step in any one unit: MSER-5 (White 1997, "An
// effective truncation heuristic for bias reduction in simulation output"), the cut in batches of 5 that minimises the
// standard error of the mean of what is left; at most half of the steps, 0 when there are fewer than 10.
int SettledAfter(std::span<const double> steps);

}  // namespace loopscope
