// What anomaly mode costs the steady steps, as far as a trace shows it.
#pragma once

#include <cstdint>
#include <optional>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// All times in ms per steady step.
struct AnomalyCost {
  double checks_ms = 0;           // NaN checks after each backward node, and the engine's own time around them
  double recording_ms = 0;        // recording where each node was made: an upper bound, kernels of leaf ops included
  double checks = 0, nodes = 0;   // per step
  double ms_per_node = 0;         // recording one node: the median over ops without a kernel (views)
  std::optional<Where> backward;  // where the backward pass was called

  double upper_ms() const { return checks_ms + recording_ms; }
  double likely_ms() const { return checks_ms + nodes * ms_per_node; }
};

// All zero when no op of a steady step ran under anomaly mode.
AnomalyCost MeasureAnomaly(const Timeline& timeline);

// The mean step without the cost of anomaly mode: rules compare with this one, since a debugging switch that multiplies
// the step would hide all else. At least a twentieth of the mean step.
double WorkMs(const Timeline& timeline);

}  // namespace loopscope
