// What a sweep is given, and its launches: its cells as arms of an experiment, and the blocks that the budget holds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/report/sweep.h"
#include "profiler/experiments/launch_results.h"
#include "profiler/experiments/launch_window.h"
#include "profiler/experiments/options.h"
#include "profiler/experiments/plan.h"

namespace loopscope {

struct SweepInput {
  std::vector<std::string> command;
  std::vector<SweepAxis> axes;
  bool loader_only = false;
  // blocks: of the best cell and its neighbours; the grid gets half as many.
  ExperimentOptions options;
  std::filesystem::path journal;  // empty: none, and no --resume
};

struct SweepPlan {
  std::string clock;       // that ends every launch's steps
  std::vector<Arm> arms;   // one per cell of the sweep
  std::vector<bool> live;  // those that can be measured
  SameWork same_work;
  LaunchWindow window;
  int grid_blocks = 0, fresh_blocks = 0;
  bool side_by_side = false;  // the launches of a block are, in turns
  std::string shortage;       // what the budget does not allow; empty when nothing is missing

  // An experiment over these cells; the first is the reference of the others.
  ExperimentPlan Over(const std::vector<int>& cells) const;
  double Seconds(const std::vector<int>& cells) const;  // of one block of them
};

// As many blocks of the grid, and then fresh ones, as `left_s` holds.
void ShapeSweep(SweepPlan& plan, const SweepFacts& sweep, int blocks, double left_s);

std::vector<std::string> DescribeSweep(const SweepPlan& plan, const SweepFacts& sweep, double spent_s);

}  // namespace loopscope
