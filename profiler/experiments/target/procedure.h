// `prove --target`: ways of training compared by the time that they take to reach a target metric. A block is one seed,
// and every arm trains with it, in random order, until it gets there or the limit ends it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/launch.h"
#include "profiler/core/report/report.h"
#include "profiler/core/report/target.h"
#include "profiler/core/result.h"
#include "profiler/experiments/candidates.h"
#include "profiler/experiments/options.h"

namespace loopscope {

struct ToTargetInput {
  std::vector<std::string> command;
  std::vector<Candidate> candidates;  // at least one; each is an arm of its own, with its first value
  ExperimentOptions options;          // blocks: seeds
  TargetWatch watch;
  double limit_s = 120;           // of one run
  std::filesystem::path journal;  // empty: none, and no --resume
};

// Fills report.target, trials and plan. Errors: the untreated program fails (exit 4); it never gives the metric, or no
// arm gets there with the first seed (exit 3); the journal belongs to another plan (exit 2); interrupted before
// anything was measured (exit 3).
Result<void> RunToTarget(const ToTargetInput& input, const Launcher& launcher, const ExperimentEvents& events,
                         Report& report);

}  // namespace loopscope
