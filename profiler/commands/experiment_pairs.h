// Pairs of launches of two commands: what `ab` and `gate` are made of.
#pragma once

#include "profiler/commands/experiment.h"
#include "profiler/commands/experiment_blocks.h"
#include "profiler/commands/experiment_launches.h"
#include "profiler/commands/experiment_plan.h"

namespace loopscope {

// Two commands as an experiment of one fix: the other command.
struct PairPlan {
  ExperimentInput input;
  ExperimentPlan plan;  // one trial, A the reference

  // `pairs` pairs in random order; a pair that would end after `end_s` is not begun.
  Observations Run(LaunchSeries& series, const std::string& name, int pairs, std::uint64_t seed, double end_s);
};

// A pilot launch of each, and the plan made from their times. Errors: a command fails (exit 4), the two do other work
// per step (exit 3), interrupted (exit 3).
Result<PairPlan> PlanPairs(const PairsInput& input, LaunchSeries& series);

// The part of a journal's identity that both commands share.
std::string PairsIdentity(std::string_view kind, const PairsInput& input);

}  // namespace loopscope
