// The window of an experiment's launches.
#pragma once

#include <string>

#include "profiler/experiments/options.h"

namespace loopscope {

// Warm-up and window that hold for all arms. A loader that runs `run_ahead` batches ahead needs a warm-up of twice and
// a window of eight times that; otherwise batches made before the window make it look faster.
struct LaunchWindow {
  int warmup = 10, steps = 20;
  bool whole_epochs = false;  // their first steps count, with the loader's start

  bool operator==(const LaunchWindow&) const = default;
};

// "10 steps of warm-up, 24 measured, in whole epochs".
std::string DescribeWindow(const LaunchWindow& window);

// The windows of the pilots and of the blocks. `steps_per_epoch` > 0 if a trial is judged by the epoch boundary: then
// every window contains one, also a pilot's, so that it shows what a treatment changes.
LaunchWindow PilotWindow(const ExperimentOptions& options, int run_ahead, int steps_per_epoch);
LaunchWindow FinalWindow(const ExperimentOptions& options, int run_ahead, int steps_per_epoch,
                         double fastest_ms_per_step);

// For arms whose loaders run ahead by different numbers of batches: a window in which an epoch begins becomes one of
// whole epochs, of about `wanted` steps. Leaving out epoch starts would hide that one loader works ahead there and
// another does not; in whole epochs nothing is hidden, and `run_ahead` needs no longer window. Unchanged where
// the first epoch holds it, where the epoch's length is unknown (0), and where the user chose steps that are not whole
// epochs.
LaunchWindow WholeEpochs(LaunchWindow window, int wanted, const ExperimentOptions& options, int steps_per_epoch);

}  // namespace loopscope
