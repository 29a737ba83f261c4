// What an experiment is asked for.
#pragma once

#include <cstdint>
#include <string>

namespace loopscope {

struct ExperimentOptions {
  int blocks = 12;             // at most
  bool until_decided = false;  // pairs end when they are enough; `prove` begins with those of all fixes against none
  double budget_s = 900;       // of launches, all phases together, a diagnosis before them included
  double margin = 0.02;        // "equivalent within ±2 %"
  std::uint64_t seed = 1;      // of the blocks' order, and the base seed of every launch
  bool seed_programs = true;   // false with --no-seed
  int warmup = 10;             // steps; more where a loader runs ahead
  bool auto_warmup = false;    // --warmup auto: `warmup` is the least; the slowest of the pilots to settle decides
  int steps = 0;               // in the window; 0: min_steps and min_window_s decide
  int min_steps = 20;
  double min_window_s = 2;     // of the fastest arm
  int alone = -1;              // fixes also measured alone, the costliest first; -1: three, fewer when time is short
  bool check_training = true;  // the check launches; without them nothing is said about the losses
  int check_steps = 30;        // training steps whose losses a check launch compares
  double launch_timeout_s = kLaunchTimeoutS;
  bool bound_launches = true;  // one that takes much longer than those before it is ended before that
  bool live = false;           // live pairs screen the treatments first, or are all with `prove --quick`
  bool turns = true;    // the launches of a block run side by side, one at a time, where the launcher can do that
  bool resume = false;  // finished launches are read from the journal
};

// Every option that must be the same for an interrupted plan to go on; for an existing journal the text must never
// change. Left out: how long a launch may take, and whether to resume.
std::string OptionsText(const ExperimentOptions& options, const std::string& clock);

}  // namespace loopscope
