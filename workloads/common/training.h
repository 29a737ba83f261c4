// The training loop itself: epochs of steps, evaluations, what is printed and what is saved.
#pragma once

#include <functional>
#include <memory>

#include "workloads/common/task.h"
#include "workloads/common/training_run.h"

namespace loopscope::train {

// Trains to the last epoch. `make` builds the task once seeds, threads and the like are set. Throws std::runtime_error
// that says what went wrong.
void Train(const TrainingRun& run, const std::function<std::unique_ptr<Task>()>& make);

}  // namespace loopscope::train
