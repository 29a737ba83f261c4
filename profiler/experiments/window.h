// What an experiment is asked for, and the window of its launches.
#pragma once

#include <cstdint>
#include <string>

namespace loopscope {

struct ExperimentOptions {
  int blocks = 12;            // at most
  double budget_s = 900;      // of launches, all phases together
  double margin = 0.02;       // "equivalent within ±2 %"
  std::uint64_t seed = 1;     // of the blocks' order, and the base seed of every launch
  bool seed_programs = true;  // false with --no-seed
  int warmup = 10;            // steps; more where a loader runs ahead
  bool auto_warmup = false;   // --warmup auto: `warmup` is the least; the slowest of the pilots to settle decides
  int steps = 0;              // in the window; 0: min_steps and min_window_s decide
  int min_steps = 20;
  double min_window_s = 2;     // of the fastest arm
  int alone = -1;              // fixes also measured alone, the costliest first; -1: three, fewer when time is short
  bool check_training = true;  // the check launches; without them nothing is said about the losses
  int check_steps = 30;        // training steps whose losses a check launch compares
  double launch_timeout_s = 600;
  bool live = false;    // live pairs screen the treatments first, or are all with `prove --quick`
  bool turns = true;    // the launches of a block run side by side, one at a time, where the launcher can do that
  bool resume = false;  // finished launches are read from the journal
};

// Warm-up and window that hold for all arms. A loader that runs `run_ahead` batches ahead needs a warm-up of twice and
// a window of eight times that, or batches made before the window flatter it.
struct Window {
  int warmup = 10, steps = 20;
  bool whole_epochs = false;  // their first steps count, with the loader's start
};

// "10 steps of warm-up, 24 measured, in whole epochs".
std::string DescribeWindow(const Window& window);

// What the pilots, and then the blocks, are launched with.
// `steps_per_epoch` > 0 where a trial is judged by the epoch boundary: then one lies in every window, also in a
// pilot's, which tells what a treatment changes.
Window PilotWindow(const ExperimentOptions& options, int run_ahead, int steps_per_epoch);
Window FinalWindow(const ExperimentOptions& options, int run_ahead, int steps_per_epoch, double fastest_ms_per_step);

// Of arms whose loaders run ahead by other numbers of batches: a window that an epoch begins in becomes one of whole
// epochs, of about `wanted` steps. Taken out, each beginning would hide what one loader works ahead there and another
// does not; counted in whole epochs nothing is hidden, and `run_ahead` asks for no longer window. Unchanged where the
// first epoch holds it, where the epoch's length is unknown (0), and where the user chose steps that are no whole
// epochs.
Window WholeEpochs(Window window, int wanted, const ExperimentOptions& options, int steps_per_epoch);

}  // namespace loopscope
