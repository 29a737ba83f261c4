// What an experiment shows while it runs, and how it is stopped.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace loopscope {

struct Progress {
  int done = 0, total = 0;   // launches; total grows until the plan is made
  double seconds_left = -1;  // -1 unknown
  std::string what;          // "block 3 of 12, ALL-amp"
};

struct ExperimentEvents {
  std::function<void(const std::vector<std::string>&)> plan;  // lines to show: before the pilots, before the blocks
  std::function<void(const Progress&)> progress;              // before each launch, and once at the end
  std::function<bool()> stop;  // true: the user interrupted; what was measured in whole blocks is still reported
};

}  // namespace loopscope
