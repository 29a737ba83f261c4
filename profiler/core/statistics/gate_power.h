// What a gate would see on a machine of known noise, by simulated gates (a fixed seed: the same answer each time).
#pragma once

#include "profiler/core/statistics/gate_decision.h"

namespace loopscope {

struct GatePower {
  double fails = 0, passes = 0;  // shares of the gates
  double pairs = 0;              // mean
};

// For a program that is slower by `slowdown`; ln(T_B / T_A) is normal with standard deviation `pair_sd`. Accurate to
// about 2 points.
GatePower PowerOf(double pair_sd, double slowdown, const GateLimits& limits);

// The smallest slowdown that fails in 80 % of gates.
double DetectableSlowdown(double pair_sd, const GateLimits& limits);

// The smallest difference, on the log scale, that CompareByBets calls in 80 % of all cases when it is looked at after
// each of `pairs`; infinite where so few can decide nothing.
double DetectableByBets(double pair_sd, int pairs);

}  // namespace loopscope
