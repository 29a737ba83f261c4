// What a launch that was followed to a target tells of it.
#pragma once

#include <cstdint>
#include <optional>

#include "profiler/core/launch.h"

namespace loopscope {

// Of a launch that was followed to a target and ended at `end_s`: what its marks tell of the metric, unless `by_output`
// says it already, and of the steps until then. Seconds from `start_ns`.
struct TargetByOutput {
  bool told = false;  // the output, and no marks, decide
  std::optional<double> reached_s, best;
};
void AddTargetFacts(const Trace& trace, const Target& target, std::int64_t start_ns, const TargetByOutput& by_output,
                    LaunchResult& result);

}  // namespace loopscope
