// The time part of `gate`: pairs of launches until one of them brings a decision.
#pragma once

#include "profiler/core/launch.h"
#include "profiler/core/report/report.h"
#include "profiler/core/result.h"
#include "profiler/core/statistics/gate_decision.h"
#include "profiler/experiments/options.h"
#include "profiler/experiments/pairs.h"

namespace loopscope {

struct GatedPairs {
  GateDecision decision;
  std::vector<LaunchRow> launches;  // of the pairs, as in GateRow
};

// Side 0 of the launcher is what is gated against, side 1 the candidate. A budget that ends before enough pairs makes
// the decision inconclusive, never a pass by accident; so does a side whose steps get longer or shorter all through its
// launches. Errors: those of RunPairs.
Result<GatedPairs> RunGate(const PairsInput& input, const GateLimits& limits, const Launcher& launcher,
                           const ExperimentEvents& events, Report& report);

}  // namespace loopscope
