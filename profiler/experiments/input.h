// What an experiment is given, and what it shows while it runs.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "profiler/core/trace/loader_depth.h"
#include "profiler/experiments/candidates.h"
#include "profiler/experiments/window.h"

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

struct ExperimentInput {
  std::vector<std::string> command;   // for the plan's identity
  std::vector<Candidate> candidates;  // at least one
  ExperimentOptions options;
  std::string clock;              // the step clock that the diagnosis chose
  int steps_per_epoch = 0;        // 0 unknown
  double step_ms = 0;             // as diagnosed; 0 unknown
  int run_ahead = 0;              // batches that the untreated loader prepares ahead: workers x prefetch
  LoaderDepth loader;             // the untreated one; without workers they follow from run_ahead
  std::filesystem::path journal;  // file of finished launches; empty: none, and no --resume
};

// Two commands in pairs: side 0 of the launcher against side 1.
struct PairsInput {
  std::vector<std::string> command_a, command_b;
  ExperimentOptions options;
  std::string clock;
  int run_ahead = 0;
  std::filesystem::path journal;
};

}  // namespace loopscope
