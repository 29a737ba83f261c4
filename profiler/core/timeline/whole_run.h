// What the whole run was spent on, as far as it was seen: start-up, steps, starts of epochs, evaluations, and other
// work of the host at the ends of epochs (checkpoints, logs).
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/core/trace/interval_set.h"

namespace loopscope {

struct WholeRun {
  std::int64_t start_up_ns = 0, steps_ns = 0, epoch_starts_ns = 0, evaluation_ns = 0, other_ns = 0;
  // By start; warm-up included. What follows the last step is no part of the training: the last epoch's evaluation
  // cannot be told there from the scoring of what was trained.
  std::vector<Interval> epoch_starts, evaluations;
  bool evaluated_after = false;  // the last step
  // Of the steps with an epoch's start: before the loader is asked for the first batch, without evaluations.
  std::vector<Interval> before_epoch_starts;
  int steps = 0;
  double steps_between_evaluations = 0;  // mean; 0: fewer than two were seen

  std::int64_t total_ns() const { return start_up_ns + steps_ns + epoch_starts_ns + evaluation_ns + other_ns; }
};

}  // namespace loopscope
