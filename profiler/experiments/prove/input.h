// The input of `prove`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/trace/facts.h"
#include "profiler/experiments/candidates.h"
#include "profiler/experiments/options.h"

namespace loopscope {

struct ExperimentInput {
  std::vector<std::string> command;   // for the plan's identity
  std::vector<Candidate> candidates;  // at least one
  ExperimentOptions options;
  std::string clock;                  // the step clock that the diagnosis chose
  int steps_per_epoch = 0;            // 0 unknown
  double diagnosis_s = 0;             // time of the diagnosis, which counts against the budget
  double startup_s = 0, step_ms = 0;  // as diagnosed; 0 unknown
  LoaderDepth loader;                 // the untreated one
  std::filesystem::path journal;      // file of finished launches; empty: none, and no --resume
};

}  // namespace loopscope
