// Pairs of launches of two commands: the basis of `ab` and `gate`.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "profiler/core/launch.h"
#include "profiler/core/report/report.h"
#include "profiler/experiments/blocks.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/options.h"
#include "profiler/experiments/plan.h"

namespace loopscope {

// Two commands in pairs: side 0 of the launcher against side 1.
struct PairsInput {
  std::vector<std::string> command_a, command_b;
  ExperimentOptions options;
  std::string clock;
  int run_ahead = 0;
  std::filesystem::path journal;  // empty: none, and no --resume
};

struct PairPlan {
  ExperimentOptions options;
  ExperimentPlan plan;  // one comparison, A the reference

  // Up to `pairs` pairs in random order, until `enough` returns true after one; a pair that would end after `end_s` is
  // not begun.
  Observations Run(LaunchSeries& series, int pairs, std::uint64_t seed, double end_s,
                   std::function<bool(const Observations&)> enough = {});
};

// A pilot launch of each, and the plan made from their times. Errors: a command fails (exit 4), the two do different
// work per step (exit 3), interrupted (exit 3).
Result<PairPlan> PlanPairs(const PairsInput& input, LaunchSeries& series);

// The part of a journal's identity that both commands share.
std::string PairsIdentity(std::string_view kind, const PairsInput& input);

// `ab`: one trial, the speedup of side 1 over side 0. Errors: those of PlanPairs, and those of the journal (exit 2).
Result<void> RunPairs(const PairsInput& input, const Launcher& launcher, const ExperimentEvents& events,
                      Report& report);

// When sequentially checked pairs are enough.

// Whether these differences of logarithms show one side faster, or both equivalent within `margin` (2 %: 0.02); never
// with fewer than kClearPairs of them.
bool IsDecided(std::span<const double> d, double margin);

}  // namespace loopscope
