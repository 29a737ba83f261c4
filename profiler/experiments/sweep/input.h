// The input of a sweep.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/report/sweep.h"
#include "profiler/experiments/options.h"

namespace loopscope {

struct SweepInput {
  std::vector<std::string> command;
  std::vector<SweepAxis> axes;
  bool loader_only = false;
  // blocks: of the best cell and its neighbours; the grid gets half as many.
  ExperimentOptions options;
  std::filesystem::path journal;  // empty: none, and no --resume
};

}  // namespace loopscope
