// `prove` and `ab`: launches a program many times in random blocks and says what each fix is worth. Everything goes
// through a Launcher, so that the whole runs without a clock in tests.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "profiler/commands/experiment_candidates.h"
#include "profiler/commands/experiment_plan.h"
#include "profiler/core/launch.h"
#include "profiler/core/report.h"
#include "profiler/core/result.h"

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

// Fills report.trials, combined, noise and plan. Errors: the untreated program fails (exit 4); the journal belongs to
// another plan or cannot be written (exit 2); interrupted before anything was measured (exit 3).
Result<void> RunExperiment(const ExperimentInput& input, const Launcher& launcher, const ExperimentEvents& events,
                           Report& report);

// `ab`: side 0 against side 1 of the launcher in pairs of random order. One trial: the speedup of side 1 over side 0.
struct PairsInput {
  std::vector<std::string> command_a, command_b;
  ExperimentOptions options;
  std::string clock;
  int run_ahead = 0;
  std::filesystem::path journal;
};
Result<void> RunPairs(const PairsInput& input, const Launcher& launcher, const ExperimentEvents& events,
                      Report& report);

}  // namespace loopscope
