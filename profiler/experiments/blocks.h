// The timed launches: blocks in which every arm runs, in random order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/experiments/launch_results.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/plan.h"

namespace loopscope {

// A clear loser: slower by more than a tenth, at a Holm p of one in a hundred.
inline constexpr double kMuchSlower = 0.10, kSurelySlower = 0.01;

struct Observation {
  int block = 0, order = 0, arm = 0;
  LaunchResult result;
};

// The results of whole blocks; a block that was cut short is left out.
struct Observations {
  std::vector<Observation> rows;
  int blocks = 0;
  std::string ended_early;  // why there are fewer blocks than planned; empty when there are not

  // ln(metric of the arm / of its reference), one per block; repeats enter by the mean of their logarithms. A
  // block where either is unknown is left out.
  std::vector<double> Differences(const PlannedComparison& one, Metric metric) const;
  bool Tried(int arm) const;  // launched in a block, whatever the result
  std::vector<double> Values(int arm, double LaunchResult::*member) const;

 private:
  std::optional<double> LogMean(int block, int arm, Metric metric) const;
};

// xor the seed, for other orders than the blocks'
inline constexpr std::uint64_t kFreshSeed = 0x9e3779b97f4a7c15, kWholeSeed = 0xc2b2ae3d27d4eb4f;

struct BlockRun {
  std::string name = "block";  // first part of the launches' labels
  std::string unit = "block";  // what `blocks` counts, as the user knows it
  int blocks = 0;
  std::uint64_t seed = 1;   // of the order
  double end_s = 0;         // in LaunchSeries::spent_s: a block that would end later is not started
  int kept_back = 0;        // fresh blocks of the baseline and ALL that must fit after all but the first four blocks
  bool drop_losers = true;  // after four blocks
  int essentials = 2;       // the blocks end when one of the first arms fails: the baseline and ALL
  SameWork same_work = {};  // as the baseline's
  std::optional<LaunchResult> baseline = {};  // from before, with the same window; else of the first block
  // Called after each block: true ends them. Usually ends after about `expected` of `blocks`.
  std::function<bool(const Observations&)> enough = {};
  int expected = 0;
};

// Runs plan.arms. An arm that fails twice in a row is dropped with its comparisons (kFailed); if it is an essential
// one, the blocks end. Comparisons of clear losers end after four blocks (kDropped): slower by more than 10 %, Holm p
// <= 1 %.
Observations RunBlocks(const ExperimentOptions& options, const BlockRun& run, ExperimentPlan& plan,
                       LaunchSeries& series);

}  // namespace loopscope
