// The launches of a sweep: its cells as arms of an experiment, the pilots that tell which cells can be measured, and
// the blocks that the budget holds.
#pragma once

#include <string>
#include <vector>

#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/plan.h"
#include "profiler/experiments/sweep/input.h"

namespace loopscope {

struct SweepPlan {
  ExperimentInput input;   // options, clock, and a candidate per value of an axis
  std::vector<Arm> arms;   // one per cell of the sweep
  std::vector<bool> live;  // those that can be measured
  SameWork same_work;
  Window window;
  int grid_blocks = 0, fresh_blocks = 0;
  bool side_by_side = false;  // the launches of a block are, in turns
  std::string shortage;       // what the budget does not allow; empty when nothing is missing

  // An experiment over these cells; the first is what the others are held to.
  ExperimentPlan Over(const std::vector<int>& cells) const;
  double Seconds(const std::vector<int>& cells) const;  // of one block of them
};

// A pilot launch of the program as it is and of each cell. Fills the cells: verdicts of those that are out, which one
// is the program's own; where none is, the program as it is becomes one more cell. The plan has no blocks yet.
Result<SweepPlan> RunSweepPilots(const SweepInput& input, SweepFacts& sweep, LaunchSeries& series);

// The pilots, and as many blocks as the budget holds.
Result<SweepPlan> PlanSweep(const SweepInput& input, SweepFacts& sweep, LaunchSeries& series);

std::vector<std::string> DescribeSweep(const SweepPlan& plan, const SweepFacts& sweep, double spent_s);

}  // namespace loopscope
