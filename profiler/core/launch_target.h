// What a launch that follows a target shows about it.
#pragma once

#include <cstdint>
#include <optional>

#include "profiler/core/launch.h"

namespace loopscope {

// For a launch that followed a target and ended at `end_s`: what its marks show of the metric (unless `by_output`
// already has it) and of the steps until then. Seconds from `start_ns`.
struct TargetByOutput {
  bool told = false;  // the output decides, not the marks
  std::optional<double> reached_s, best;
};
void AddTargetFacts(const Trace& trace, const Target& target, std::int64_t start_ns, const TargetByOutput& by_output,
                    LaunchResult& result);

}  // namespace loopscope
