// What an experiment is given: its options, whom it tells how far it is, and what stops it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profiler/core/launch.h"

namespace loopscope {

// The options of an experiment.
struct ExperimentOptions {
  int blocks = 12;             // at most
  bool until_decided = false;  // pairs end when they are enough; `prove` begins with those of all fixes against none
  double budget_s = 900;       // for all launches, including a diagnosis before them
  double margin = 0.02;        // "equivalent within ±2 %"
  std::uint64_t seed = 1;      // for the blocks' order; also the base seed of every launch
  bool seed_programs = true;   // false with --no-seed
  int warmup = 10;             // steps; more where a loader runs ahead
  bool auto_warmup = false;    // --warmup auto: `warmup` is the minimum; the pilot that settles last decides
  int steps = 0;               // in the window; 0: min_steps and min_window_s decide
  int min_steps = 20;
  double min_window_s = 2;     // of the fastest arm
  int alone = -1;              // fixes also measured alone, the costliest first; -1: three, fewer when time is short
  bool check_training = true;  // the check launches; without them losses are not compared
  int check_steps = 30;        // training steps whose losses a check launch compares
  double launch_timeout_s = kLaunchTimeoutS;
  bool bound_launches = true;  // a launch that takes much longer than earlier ones is ended sooner
  bool live = false;           // live pairs screen the treatments first; with `prove --quick` they are all
  bool turns = true;    // the launches of a block run side by side, one at a time, where the launcher can do that
  bool resume = false;  // finished launches are read from the journal
};

// All options that must match to resume a plan; existing journals depend on this text, so it must not change. Left out:
// the launch timeout, and whether to resume.
std::string OptionsText(const ExperimentOptions& options, const std::string& clock);

// What an experiment shows while it runs, and how it is stopped.
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
