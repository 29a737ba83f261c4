// One way to run the program, as an experiment launches it.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/core/launch.h"

namespace loopscope {

using Settings = std::vector<std::pair<std::string, std::string>>;  // key, value

struct Arm {
  std::string name;                    // "baseline", "ALL", "ALL-amp", "amp"; "B"; "loader.workers=2"
  Settings settings;                   // what its launches are asked to apply
  int repeats = 1;                     // per block
  int side = 0;                        // which of the launcher's commands
  double ms_per_step = 0, wall_s = 0;  // from its pilot; wall_s of one launch with the plan's window
  int settled_after = 0;               // steps, from its pilot
  bool to_pilot = false;               // its pilot was not launched yet: wall_s is a guess
};

inline LaunchSpec WithArm(LaunchSpec spec, const Arm& arm) {
  spec.side = arm.side;
  spec.treatment = arm.settings;
  return spec;
}

// Fills in what the pilot measured of an arm.
inline void Estimate(Arm& arm, const LaunchResult& pilot) {
  arm.ms_per_step = pilot.ms_per_step;
  arm.wall_s = pilot.wall_s;
  arm.settled_after = pilot.settled_after;
  arm.to_pilot = false;
}

// The shortest step time of the timed arms; 0: none was timed.
inline double FastestMs(std::span<const Arm> arms) {
  double fastest_ms = 0;
  for (const Arm& arm : arms) {
    if (arm.ms_per_step > 0) fastest_ms = fastest_ms == 0 ? arm.ms_per_step : std::min(fastest_ms, arm.ms_per_step);
  }
  return fastest_ms;
}

}  // namespace loopscope
